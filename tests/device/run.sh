#!/bin/sh
# run.sh [STEP...]: on a machine with a GPU, what pack.sh has packed. Needs CUDA's libraries beside the driver.
#
#   check      tests/device*.sh on the GPU: as on the host, iterations and residuals
#   sanitize   compute-sanitizer: memcheck and racecheck
#   bench      times: verbs, cycles, others; table and device.csv
#
# All of them without an argument. What they say is also in the folder RESULTS (default: results, beside this file). The last line is: N passed, N failed, N skipped.
#
#   GPU=none   does not look for a GPU: for CUDA's stand-ins of tests/cudahost
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${RESULTS:-$here/results}
mkdir -p "$results"

complain() { echo "run: $*" >&2; exit 1; }

# Folders in which machines have CUDA's libraries: the toolkit's, and those of Python's packages
places() {
  ls -d /usr/local/cuda*/lib64 /usr/local/cuda*/targets/x86_64-linux/lib 2> /dev/null
  python3 -c 'import nvidia, os
for path in nvidia.__path__:
    for root, folders, files in os.walk(path):
        if os.path.basename(root) == "lib": print(root)' 2> /dev/null
}

missing() { ldd "$here/lib/libpetsckcycle.so" "$here"/bin/* | awk '/not found/ { print $1 }' | sort -u | xargs; }

find_libraries() {
  LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  for place in $(places); do LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$place; done
  export LD_LIBRARY_PATH
  [ -z "$(missing)" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$here/lib/spare
  missing=$(missing)
  [ -z "$missing" ] || complain "not found: $missing. Set LD_LIBRARY_PATH to the folders that have them"
}

find_gpu() {
  [ "${GPU:-}" != none ] || return 0
  command -v nvidia-smi > /dev/null || complain "no nvidia-smi here: is there a driver?"
  nvidia-smi -L > "$results/gpu" 2>&1 && grep -q '^GPU 0' "$results/gpu" || complain "no GPU here: $(head -n 1 "$results/gpu")"
  cat "$results/gpu"
}

# Tests run as make check has them run, each program on one process
settings() {
  printf '#!/bin/sh\nshift 2\nexec "$@"\n' > "$results/alone" # -n 1
  chmod +x "$results/alone"
  export KC_TOP="$here" KC_LIBRARY="$here/lib/libpetsckcycle.so" KC_BUILD="$here" KC_LIBDIR="$here/lib" KC_CONF_DIR="$here" KC_CONF_ARCH=. KC_TUTORIALS="$here/tutorials"
  export KC_MPIEXEC="${KC_MPIEXEC:-$results/alone}" KC_PROCESSES="${KC_PROCESSES:-1}" KC_PROGRAMS="$here/bin" KC_WORK="$results/work" KC_DEVICE_KERNELS=1
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  mkdir -p "$KC_WORK"
}

check() (
  cd "$KC_WORK" || exit
  for script in "$here"/tests/device*.sh; do sh "$script"; done 2>&1 | tee "$results/check"
)

# A solve with each smoother, in both precisions, kernel by kernel and by graphs; a problem with coefficients that vary
sanitize() {
  command -v compute-sanitizer > /dev/null || { echo "ok - compute-sanitizer # SKIP it is not here" | tee "$results/sanitize"; return; }
  cube="-da_grid_x 17 -da_grid_y 18 -da_grid_z 19 -ksp_type cg -pc_type kcycle -dm_mat_type stencil -dm_vec_type cuda -ksp_error_if_not_converged"
  for tool in memcheck racecheck; do
    for options in "" "-pc_kcycle_graph off" "-pc_kcycle_precision single -pc_kcycle_kappa 2" "-mg_levels_pc_relax_type jacobi" "-mg_levels_pc_relax_type chebyshev" \
      "-mg_levels_pc_relax_type eightcolor" "-mg_levels_pc_relax_type alternating" "-pc_mg_type full" "-pc_kcycle_interpolation operator" "-pc_kcycle_tile_above 0 -pc_kcycle_block_below 0" \
      "-pc_kcycle_tile_above 0 -pc_kcycle_precision single" "-pc_kcycle_kappa w" "-pc_kcycle_kappa w -pc_kcycle_matrix_below 0" "-pc_kcycle_kappa w -pc_kcycle_block_below 0"; do
      # shellcheck disable=SC2086 # words
      one_sanitized $tool "$here/bin/ex45" $cube $options
    done
    for options in "-cells 20,18,16 -random 3" "-cells 40,37 -random 8 -ends pp,ss" "-cells 40,37 -stretch 1.3,1.3"; do
      # shellcheck disable=SC2086 # words
      one_sanitized $tool "$here/bin/battery" $options -repeat 1 -dm_mat_type stencil -dm_vec_type cuda
    done
  done 2>&1 | tee "$results/sanitize"
}

one_sanitized() { # tool program options...
  tool=$1
  shift
  if timeout 300 compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" -dll_append "$KC_LIBRARY" > "$results/sanitized" 2>&1; then echo "ok - $tool: $*"
  else
    echo "not ok - $tool: $*"
    grep '^=========' "$results/sanitized" | head -n 20 | sed 's/^/#    /'
  fi
}

bench() { sh "$here/bench.sh" "$results/device.csv"; }

find_libraries
find_gpu
settings
[ $# -gt 0 ] || set -- check sanitize bench
rm -f "$results/check" "$results/sanitize"
broken=0
for step; do
  case $step in
    check | sanitize) $step ;;
    bench) bench || broken=1 ;;
    *) complain "no step is called $step: there are check, sanitize and bench" ;;
  esac
done
touch "$results/check" "$results/sanitize"
failed=$(cat "$results/check" "$results/sanitize" | grep -c '^not ok') skipped=$(cat "$results/check" "$results/sanitize" | grep -c '^ok.*# SKIP')
passed=$(($(cat "$results/check" "$results/sanitize" | grep -c '^ok') - skipped))
echo "$passed passed, $((failed + broken)) failed, $skipped skipped"
[ $((failed + broken)) = 0 ]
