#!/bin/sh
# Halos of levels on a device are sent while inner points are computed (src/kernel/cuda/partcuda.cu), run on the host by the stand-ins of tests/cudahost: iterations and
# residuals are, digit by digit, those of one kernel for all points, and to 1e-12 of the first residual those of the host.
# Run by: make check SEARCH=device_overlap
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 4 2)}

solve() { # output processes program options...
  output=$KC_WORK/$1 processes=$2 program=$3
  shift 3
  CUDAHOST_REPORT=1 mpi "$processes" "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_vec_type cuda -ksp_monitor -ksp_converged_reason -ksp_view \
    -malloc_dump -pc_kcycle_process_eq_limit 0 "$@" > "$output" 2>&1 || { cat "$output"; return 1; }
}

launches() { sed -n 's/.* \([0-9]*\) launches;.*/\1/p' "$1" | awk '{ n += $1 } END { print n }'; }

# The same residuals, all digits, with more kernels; and those of the host
overlapped() { # part processes program options...
  part=$1 processes=$2 program=$3
  shift 3
  solve parts "$processes" "$program" -dm_mat_type stencil -pc_kcycle_overlap_above 0 "$@" && solve whole "$processes" "$program" -dm_mat_type stencil -pc_kcycle_overlap_above 1000000000 "$@" || return 1
  for output in parts whole; do grep -e 'KSP Residual norm' -e 'solve converged' "$KC_WORK/$output" > "$KC_WORK/$output.history"; done
  grep 'halos are sent while' "$KC_WORK/parts"
  if grep 'halos are sent while' "$KC_WORK/whole"; then return 1; fi
  echo "launches: $(launches "$KC_WORK/parts"), $(launches "$KC_WORK/whole")"
  diff "$KC_WORK/parts.history" "$KC_WORK/whole.history" && [ "$(launches "$KC_WORK/parts")" -gt "$(launches "$KC_WORK/whole")" ] || return 1
  same_history "$part" "$program" "$processes" stencil -pc_kcycle_overlap_above 0 "$@"
}

view="halos are sent while inner points are computed on level 1 and finer ones"

# shellcheck disable=SC2086 # words
programs_overlapped() {
  for processes in $counts; do
    claim="inner points, then the rim, as all at once, $processes processes"
    for type in redblack eightcolor jacobi chebyshev; do works "$claim, $type" "$view" overlapped 1e-12 "$processes" ex45 $cube -mg_levels_pc_relax_type $type; done
    works "$claim, halos through the host" "$view" overlapped 1e-12 "$processes" ex45 $cube -pc_kcycle_kappa 2 -use_gpu_aware_mpi 0
    works "$claim, two dimensions, four colours" "$view" overlapped 1e-12 "$processes" ex29 $square -mg_levels_pc_relax_type fourcolor
    works "$claim, 27 coefficients that vary, wrapping around" "$view" overlapped 1e-12 "$processes" battery -cells 20,18,16 -scheme elements -random 3 -ends ss,pp,vv $points
    works "$claim, lines that are cut and wrap around" "$view" overlapped 1e-12 "$processes" battery -cells 39,37 -random 3 -ends pp,pp $points -use_gpu_aware_mpi 0
    works "$claim, prisms, level 1 on fewer processes" "on level 2 and finer ones" overlapped 1e-12 "$processes" battery -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen x $points
    works "$claim, one dimension" "$view" overlapped 1e-12 "$processes" ex25 -da_grid_x 129 -mg_levels_pc_relax_type chebyshev
    works "$claim, single precision" "$view" overlapped 1e-6 "$processes" ex45 $cube -pc_kcycle_precision single
    works "$claim, single precision, halos through the host" "$view" overlapped 1e-6 "$processes" ex45 $cube -pc_kcycle_precision single -mg_levels_pc_relax_type jacobi -use_gpu_aware_mpi 0
    works "$claim, Richardson, symmetric sweeps" "$view" overlapped 1e-12 "$processes" ex45 $cube -ksp_type richardson -mg_levels_pc_relax_order symmetric
  done
}

# A product is two kernels where processes have as many points as the table of thresholds says, and one below
product() { # points
  solve product 2 ex45 -dm_mat_type stencil -pc_type none -ksp_max_it 2 -ksp_converged_reason -da_grid_x "$1" -da_grid_y 100 -da_grid_z 100
  launches "$KC_WORK/product"
}

products() {
  most=$(awk '/INT\(KCYCLE_OVERLAP,/ { sub(/,$/, "", $2); print $2 }' "$KC_TOP/include/petsckcycle/private/policyimpl.h")
  below=$(product $((most / 5000 - 2)) | tail -n 1) enough=$(product $((most / 5000)) | tail -n 1)
  echo "launches: $below with fewer points, $enough with $most of each process"
  [ "$enough" -gt "$below" ]
}

begin "inner points, then the rim, as all at once"
for program in ex45 ex29 ex25; do
  compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
done
compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
programs_overlapped
works "products of large matrices, too" "launches: " products
