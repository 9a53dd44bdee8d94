#!/bin/sh
# - The arithmetic at a grid point, include/petsckcycle/private/point.h, is one source for host and device: it compiles
#   as device code.
# - PCKCYCLE's structured levels are on the device where the vectors do: the same residuals as on the host, and a cycle
#   copies nothing but, with several processes, the coarsest problem and halos between processes. If a smoother has
#   no kernels for devices, they stay on the host and say so, and a cycle copies a vector to the host and one back. If
#   PETSc has no GPU, vectors of Kokkos are the host's, and nothing is copied.
# - PCINCPOISSON, PCDEFLSUB, KSPDPCG and KSPKCG do on matrices of device types what they do on AIJ: with Kokkos, on
#   whatever it was built for, and with CUDA, on a GPU or, where there is none, on the stand-ins of tests/cudahost.
# Run by: make check SEARCH=device
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 1 2 4)}
few=$(for n in $counts; do [ "$n" -gt 2 ] || echo "$n"; done)
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null || true)

cat > "$KC_WORK/point.cu" <<'CUDA'
#include <petsckcycle/private/point.h>

typedef const PetscScalar *In;
template <int nl, int box> __global__ void Relax(PetscInt n, In c, In x, In b, PetscScalar *y)
{
  const PetscScalar *coefficients[KC_COUNT(nl, box)], *lines[nl];
  const PetscInt     i = 1 + blockIdx.x * blockDim.x + threadIdx.x;

  for (int o = 0; o < KC_COUNT(nl, box); o++) coefficients[o] = c + o * n;
  for (int q = 0; q < nl; q++) lines[q] = x + q * n;
  if (i < n - 1) {
    const PetscScalar s = KCyclePointSum(nl, box, coefficients, lines, i);
    const PetscScalar t = KCyclePointSumConstant(nl, box, c, lines, i);

    y[i]     = KCyclePointFinish(KC_RELAX, s, b[i], lines[nl / 2][i], 1., 1 / coefficients[KC_COUNT(nl, box) / 2][i]);
    y[i + n] = KCyclePointFinish(KC_RESIDUAL, t, b[i], 0., 0., 0.);
  }
}

template __global__ void Relax<1, 0>(PetscInt, In, In, In, PetscScalar *);
template __global__ void Relax<3, 0>(PetscInt, In, In, In, PetscScalar *);
template __global__ void Relax<5, 0>(PetscInt, In, In, In, PetscScalar *);
template __global__ void Relax<3, 1>(PetscInt, In, In, In, PetscScalar *);
template __global__ void Relax<9, 1>(PetscInt, In, In, In, PetscScalar *);
CUDA

# MPI's headers, which PETSc's include, come through the compiler wrapper that PETSc uses
flags() {
  pkg-config --cflags-only-I "$(petsc_pc)"
  wrapper=$(pkg-config --variable=ccompiler "$(petsc_pc)")
  ${wrapper:-mpicc} --showme:incdirs 2> /dev/null | tr ' ' '\n' | sed -n 's/./-I&/p'
}

# shellcheck disable=SC2046 # words
device() { "$nvcc" -c -arch=sm_90 -I"$KC_TOP/include" $(flags) "$KC_WORK/point.cu" -o "$KC_WORK/point.o"; }

claim="point.h compiles as device code for every stencil"
if [ -z "$nvcc" ]; then skip "$claim" "no nvcc here"
elif [ -n "${KC_PROGRAMS:-}" ]; then skip "$claim" "no sources here"
elif petsc_has PETSC_USE_COMPLEX; then skip "$claim" "complex numbers have no stencils"
else works "$claim" "" device; fi

# As on AIJ: the output of a test program, but for the name of the type. What is left of memory PETSc, or the stand-in,
# would say there
as_expected() { # processes type output program arguments...
  processes=$1 type=$2 expected=$KC_TOP/tests/output/$3.out
  shift 3
  mpi "$processes" "$@" -type "$type" -malloc_dump > "$KC_WORK/output" 2>&1 || { cat "$KC_WORK/output"; return 1; }
  sed "s/$type/aij/g" "$KC_WORK/output" | diff - "$expected"
}

as_aij() { # type output program arguments...
  for processes in $counts; do works "$2 on $1, $processes processes, is as on aij" "" \
    as_expected "$processes" "$@"; done
}

programs() { # type tests of deflsub.c...
  type=$1
  shift
  for program in incpoisson deflsub dpcg kcg; do
    compile c "$KC_TOP/tests/$program.c" $program -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" \
      "-Wl,-rpath,$KC_BUILD/lib" > "$log" 2>&1 || not_ok "$program.c compiles" "$type"
  done
  for part in product reuse; do as_aij "$type" "incpoisson_$part" "$KC_WORK/incpoisson" -test $part; done
  for part; do as_aij "$type" "deflsub_$part" "$KC_WORK/deflsub" -test "$part"; done
  works "Z stays on the device where subdomains stay, $type" "Z is kept on the device" mpi "${few##*
}" "$KC_WORK/deflsub" -test reuse -type "$type" -info
  as_aij "$type" kcg_ends "$KC_WORK/kcg" -ends
  as_aij "$type" dpcg "$KC_WORK/dpcg" -pc_deflsub_coarse factor -deflation_pc_pc_type jacobi \
    -deflation_pc_type redundant -deflsub_pc_type jacobi
}

# As on the host. On the stand-ins each process copies to the host for applications of the cycle only, and as often
# back. The set-up copies entries of the matrix with their columns and rows, and the right side
copies() { # copies of an application, of the set-up, applications more than iterations, as_on_host's arguments...
  each=$1 setup=$2 more=$3
  shift 3
  as_on_host "$@" || return 1
  awk -v each="$each" -v setup="$setup" -v more="$more" '
    /solve converged/ { n = each * ($NF + more) }
    /^cudahost/ { reports++ }
    /^cudahost/ && ($9 > n || $2 > n + setup) {
      print "at most " n + setup " copies to the device and " n " to the host"; status = 1
    }
    END { exit status || !reports }' "$KC_WORK/there"
}

# Vectors that the host computes with, though their type is one for devices: nothing is copied
not_copied() {
  as_on_host "$@" && ! grep -q -e 'are copied' -e ' device ' -e 'on the host' "$KC_WORK/there"
}

kcycle() { # matrix vectors
  claim="kcycle on $1 and $2"
  if [ ! -f "$KC_TUTORIALS/ex45.c" ]; then skip "$claim" "no tutorial ex45.c"; return; fi
  compile c "$KC_TUTORIALS/ex45.c" "$KC_WORK/ex45" > "$log" 2>&1 || not_ok "ex45.c compiles" "$1"
  general="-pc_kcycle_structured off -mg_levels_esteig_ksp_type cg"
  general="$general -mg_coarse_pc_type jacobi -mg_coarse_ksp_type cg -mg_coarse_ksp_max_it 10"
  if ! petsc_has PETSC_HAVE_CUDA && ! petsc_has PETSC_HAVE_HIP && ! petsc_has PETSC_HAVE_SYCL; then
    for processes in $few; do works "$claim, which is the host: structured levels, $processes processes" \
      "structured levels\$" not_copied "$processes" "$1" "$2"; done
    works "$claim, which is the host: operator as a stencil" "structured levels\$" not_copied 1 stencil "$2"
    # shellcheck disable=SC2086 # words
    works "$claim, which is the host: levels of PCMG" " host .*chebyshev(2)+sor\$" not_copied 1 "$1" "$2" $general
    return
  fi
  on=device
  [ -n "$device_kernels" ] || on=host
  for processes in $few; do works "$claim: structured levels, $processes processes" "structured levels on the $on" \
    as_on_host "$processes" "$1" "$2"; done
  works "$claim: operator as a stencil" "structured levels on the $on" as_on_host 1 stencil "$2"
  works "$claim: structured levels on the host" "structured levels on the host: vectors are copied 2 times a cycle\$" \
    as_on_host 1 "$1" "$2" -pc_kcycle_place host
  only="there is one level only"
  [ -n "$device_kernels" ] || only="the library has no kernels for devices"
  for processes in $few; do works "$claim: one level, $processes processes" "not on the device: $only" as_on_host \
    "$processes" "$1" "$2" -da_grid_x 3 -da_grid_y 3 -da_grid_z 3; done
  works "$claim: a smoother without kernels" "not on the device: level [0-9]*: its planes are relaxed on the host" \
    as_on_host 1 "$1" "$2" -mg_levels_pc_relax_type planes \
    -mg_levels_planes_pc_kcycle_place host
  refuses "$claim: a place that cannot be had" \
    "-pc_kcycle_place device is for.*here level [0-9]*: its planes are relaxed on the host" poisson 1 "$1" "$2" \
    -mg_levels_pc_relax_type planes \
    -mg_levels_planes_pc_kcycle_place host -pc_kcycle_place device
  refuses "$claim: levels below a negative number of unknowns" \
    "-pc_kcycle_host_below is a number of unknowns, or auto, not" poisson 1 "$1" "$2" -pc_kcycle_host_below -1
  # shellcheck disable=SC2086 # words
  works "$claim: levels of PCMG" " device .*chebyshev(2)+sor on the host" as_on_host 1 "$1" "$2" $general
}

# Where bytes that a solve copied to the host are counted
short="-ksp_max_it 4 -ksp_rtol 1e-30 -dm_mat_type stencil"

# A solve on a cube with 17 points in a direction copies at most BYTES to the host. One with 33 points copies at most
# TIMES as many
# shellcheck disable=SC2086 # words
grows() { # claim BYTES TIMES processes options...
  claim_of=$1 most=$2 times=$3 processes=$4
  shift 4
  check "$claim_of" "" copied "$most" "$times" "$(want "$processes.cuda" $short $steps -cells 17,17,17 -ends ss,ss,ss \
    "$@")" \
    "$(want "$processes.cuda" $short $steps -cells 33,33,33 -ends ss,ss,ss "$@")"
}

bytes_of() { awk '/^cudahost: [0-9]* copies/ { print $13 }' "$(answer "$1")"; }

copied() { # bytes times answer answer
  echo "$(bytes_of "$3") bytes, and $(bytes_of "$4")"
  [ "$(bytes_of "$3")" -le "$1" ] && [ "$(bytes_of "$4")" -le $(($(bytes_of "$3") * $2)) ]
}

# The coarsest problem of one process is solved on the device. If its solver was chosen, or there are several processes,
# five applications of the cycle copy its 27 numbers to the host. If halos go through the host, so do faces of the grid:
# the finer one has 4 times as many, on a level more, but 8 times as many points
# shellcheck disable=SC2086 # words
nothing_copied() {
  claim="copied to the host in a solve"
  grows "$claim: nothing" 0 1 1
  grows "$claim: nothing, Chebyshev" 0 1 1 -mg_levels_pc_relax_type chebyshev
  grows "$claim: nothing, lines" 0 1 1 -mg_levels_pc_relax_type alternating
  clusters=$(want 1.cuda $short $steps -cells 40,37 -random 4 -mg_levels_pc_relax_type zebra_y \
    -mg_levels_pc_relax_clusters on)
  check "$claim: nothing, clusters" "" copied 0 1 "$clusters" "$clusters"
  check "$claim: nothing, clusters that are there" "clusters of" cat_answer "$clusters"
  grows "$claim: nothing, each kernel launched" 0 1 1 -pc_kcycle_graph off
  grows "$claim: nothing, products with matrices" 0 1 1 -pc_kcycle_matrix_below 150
  grows "$claim: parts of a maximum for single precision" $((5 * 2048)) 1 1 -pc_kcycle_precision single
  grows "$claim: the coarsest problem, whose solver was chosen" 1080 1 1 -mg_coarse_pc_type lu
  grows "$claim: halos of 2 processes" 400000 5 2 -use_gpu_aware_mpi 0
  grows "$claim: halos of 4 processes" 900000 5 4 -use_gpu_aware_mpi 0
  for processes in 2 4; do grows "$claim: MPI with support of devices sends halos, $processes processes" 2160 1 \
    $processes; done
}

# Memory for levels grows until they fit. Before that an error says how much is missing, nothing is left of the levels,
# and the solver continues on the host
memory() {
  for precision in double single; do
    "$KC_WORK/errors" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type stencil \
      -dm_vec_type cuda -pc_kcycle_precision $precision -pc_kcycle_place device -pc_kcycle_matrix_below 150 \
      -malloc_dump \
      > "$KC_WORK/little" 2>&1 || { cat "$KC_WORK/little"; return 1; }
    cat "$KC_WORK/little"
    [ "$(grep -c '^enough, ' "$KC_WORK/little")" = 1 ] &&
      [ "$(grep -c '^too little memory, ' "$KC_WORK/little")" -gt 5 ] || return 1
    [ "$(grep -c '^enough for matrices, ' "$KC_WORK/little")" = 1 ] &&
      [ "$(grep -c '^too little memory for matrices, ' "$KC_WORK/little")" -gt 5 ] || return 1
    [ "$(sed 's/^[^,]*,//' "$KC_WORK/little" | sort -u | wc -l)" = 1 ] || return 1
  done
}

# Steps of a cycle fail, one after the other, each in a cycle of its own: that is an error, and the next one is as if
# none had
recovers() { # options...
  "$KC_WORK/errors" -dll_append "$plugin" -pc_type kcycle -dm_mat_type stencil -dm_vec_type cuda \
    -pc_kcycle_place device -pc_kcycle_matrix_below 20 -da_grid_x 9 -da_grid_y 9 -malloc_dump -fail "$@" \
    > "$KC_WORK/failed" 2>&1 || { cat "$KC_WORK/failed"; return 1; }
  cat "$KC_WORK/failed"
  [ "$(grep -c ' failed [1-9][0-9]* times after' "$KC_WORK/failed")" -ge 2 ] &&
    ! grep -e ' left' -e 'PetscMalloc' "$KC_WORK/failed"
}

errors() {
  claim="not enough memory on the device"
  compile c "$KC_TOP/tests/device/errors.c" errors -std=gnu99 "-I$KC_TOP/include" \
    "-I$(dirname "$(dirname "$(readlink -f "$nvcc")")")/include" "$host"/libpetsc.so.* "$plugin" \
    "-Wl,-rpath,$host" > "$log" 2>&1 || not_ok "errors.c compiles" "with cuda"
  works "$claim: an error, and the host, or a later cycle, goes on" "" memory
  works "a launch that fails ends a recording" "" recovers
  works "a launch that fails ends a recording, kappa w" "" recovers -pc_kcycle_kappa w
  works "a launch that fails ends a recording, single precision" "" recovers -pc_kcycle_precision single -part 1e-6
  works "a launch that fails ends a recording, full multigrid" "" recovers -pc_mg_type full
  works "a coarsest solver that fails ends a recording" "" recovers -coarsest -mg_coarse_pc_type failing \
    -pc_kcycle_kappa 2
}

# A cycle is a number of launches, of at most some kernels for each level but the coarsest. All kernels and launches
# that the solver ran are those of its cycles
# shellcheck disable=SC2086 # words
launches() { # claim launches kernels levels options...
  claim_of=$1 calls=$2 most=$3 levels=$4
  shift 4
  check "$claim_of" "" launched "$calls" "$most" "$levels" "$(want 1.cuda $short $steps "$@")"
}

launched() { # launches kernels levels answer
  grep -e 'cycle with kappa' -e 'full multigrid with' -e 'cycles are' -e '^cudahost' "$(answer "$4")"
  awk -v calls="$1" -v most="$2" -v levels="$3" '
    / with kappa [0-9w]*: / { kernels = $(NF - 3); seen++ }
    / with kappa [0-9w]*: / && $(NF - 1) != calls { print calls " launches are wanted"; status = 1 }
    /^cudahost: .* graphs with/ { graphs = $(NF - 4); inside = $(NF - 1) }
    END { if (kernels > most * levels || (calls < kernels && (graphs < 3 * calls || inside < 3 * kernels))) {
            print kernels " kernels, " inside " in " graphs " graphs"; status = 1 }
          exit status || seen != 1 }' "$(answer "$4")"
}

# shellcheck disable=SC2086 # words
graphs() {
  one="-mg_levels_ksp_max_it 1"
  launches "a V-cycle on 257^2 points is one launch, of at most 8 kernels for a level with more than 65^2 points" 1 8 \
    2 -cells 257,257 -ends ss,ss $one
  launches "a V-cycle on 33^3 points is one launch" 1 12 4 -cells 33,33,33 -ends ss,ss,ss $one
  launches "so is an F-cycle" 1 36 3 $cube $one -pc_kcycle_kappa 2
  launches "and one in single precision" 1 36 3 $cube $one -pc_kcycle_kappa 2 -pc_kcycle_precision single
  launches "and one with lines along all directions" 1 50 3 $cube $one -mg_levels_pc_relax_type alternating
  launches "and full multigrid" 1 24 3 $cube $one -pc_mg_type full
  launches "a W-cycle with levels on the host has a launch for each part" 5 24 2 $cube $one -pc_kcycle_kappa w \
    -pc_kcycle_host_below 300
  same "BiCGStab, which has two pairs of vectors, most of whose cycles are graphs" \
    "; [6-9] graphs with" 1e-12 1 stencil \
    $cube -ksp_type bcgs -ksp_rtol 1e-12
  works "Richardson stops between parts of a cycle, of which two are launched with the two kernels of a norm" \
    "a cycle with kappa 1: [0-9]* kernels, 4 launches\$" \
    as_on_host 1 stencil cuda -ksp_type richardson
  same "with two processes each kernel is launched" \
    "launched kernel by kernel: halos between processes are sent by MPI" 1e-12 2 stencil $cube
  same "while levels are logged each kernel is launched" "launched kernel by kernel: -pc_mg_log" 1e-12 1 stencil $cube \
    -pc_mg_log
}

plugin=$KC_LIBRARY # what PETSc's own programs load
mkdir -p "$lists"
if petsc_has PETSC_HAVE_KOKKOS_KERNELS; then
  programs aijkokkos labels identities reuse inverse special
  kcycle aijkokkos kokkos
fi
claim="aijcusparse is as aij"
if ! petsc_has PETSC_HAVE_CUDA; then skip "$claim" "PETSc has no CUDA"
elif nvidia-smi -L > /dev/null 2>&1; then
  # Stand-ins that look like a GPU (tests/device/pack.sh) have no factors
  # shellcheck disable=SC2046 # a word or none
  programs aijcusparse labels identities reuse inverse $([ -f "$KC_TOP/fake" ] || echo special)
  kcycle aijcusparse cuda
elif [ ! -d "$KC_CONF_DIR/$KC_CONF_ARCH/obj" ]; then skip "$claim" "no GPU here, and PETSc is not where it was built"
else
  works "PETSc's CUDA types compile for the host" "" stand_in
  if [ -n "$device_kernels" ]; then
    works "the kernels of levels compile for the host" "" library_on_stand_in
    plugin=$host/libpetsckcycle.so
  fi
  export LD_LIBRARY_PATH="$host${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  programs aijcusparse labels identities reuse inverse
  kcycle aijcusparse cuda
  if [ -n "$device_kernels" ]; then
    nothing_copied
    graphs
    errors
    finish
  fi
  claim="copies of kcycle on the stand-ins, levels on the host"
  works "$claim" "" copies 1 6 1 1 aijcusparse cuda -pc_kcycle_place host
  works "$claim, 2 processes" "" copies 1 9 1 2 aijcusparse cuda -pc_kcycle_place host
  works "$claim, Richardson" "" copies 0 6 0 1 aijcusparse cuda -ksp_type richardson -pc_kcycle_place host
  works "$claim, full multigrid" "" copies 1 6 1 1 aijcusparse cuda -pc_mg_type full -pc_kcycle_place host
  works "$claim, additive multigrid" "" copies 1 6 1 1 aijcusparse cuda -pc_mg_type additive
  works "$claim, smoothers with work vectors" "" copies 1 6 1 1 aijcusparse cuda -mg_levels_ksp_type chebyshev \
    -mg_levels_pc_type jacobi
fi
