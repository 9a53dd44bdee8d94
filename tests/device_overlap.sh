#!/bin/sh
# Halos of levels on a device are sent while inner points are computed (src/kernel/cuda/partcuda.cu), run on the host by
# the stand-ins of tests/cudahost: iterations and residuals are, digit by digit, those of one kernel for all points, and
# to 1e-12 of the first residual those of the host.
# Run by: make check SEARCH=device_overlap
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 4 2)}

# The same residuals, all digits, with more kernels; and those of the host
# shellcheck disable=SC2086 # words
overlapped() { # claim pattern part processes options...
  claim_of=$1 pattern_of=$2 part=$3 processes=$4
  shift 4
  check "$claim_of" "$pattern_of" in_two "$part" \
    "$(want "$processes.cuda" -dm_mat_type stencil $steps -pc_kcycle_overlap_above 0 "$@")" \
    "$(want_host "$processes" -dm_mat_type stencil "$@")" \
    "$(want "$processes.cuda" -dm_mat_type stencil $steps -pc_kcycle_overlap_above 1000000000 "$@")"
}

in_two() { # part answer answer answer
  history "$@" && ! grep 'halos are sent while' "$(answer "$4")" && digits "$2" "$4" &&
    echo "$(kernels "$2") kernels, or $(kernels "$4")" && [ "$(kernels "$2")" -gt "$(kernels "$4")" ]
}

view="halos are sent while inner points are computed on level 1 and finer ones"

rim() { what=$1; shift; overlapped "$claim, $what" "$view" 1e-12 "$processes" "$@"; }

# shellcheck disable=SC2086 # words
programs_overlapped() {
  for processes in $counts; do
    claim="inner points, then the rim, as all at once, $processes processes"
    for type in redblack eightcolor jacobi chebyshev; do rim "$type" $cube -mg_levels_pc_relax_type $type; done
    rim "halos through the host" $cube -pc_kcycle_kappa 2 -use_gpu_aware_mpi 0
    rim "two dimensions, four colours" $square -mg_levels_pc_relax_type fourcolor
    rim "27 coefficients that vary, wrapping around" -cells 20,18,16 -scheme elements -random 3 -ends ss,pp,vv $points
    rim "lines that are cut and wrap around" -cells 39,37 -random 3 -ends pp,pp $points -use_gpu_aware_mpi 0
    overlapped "$claim, prisms, level 1 on fewer processes" "on level 2 and finer ones" 1e-12 "$processes" \
      -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen x $points
    rim "one dimension" -cells 129 -ends ss -mg_levels_pc_relax_type chebyshev
    overlapped "$claim, single precision" "$view" 1e-6 "$processes" $cube -pc_kcycle_precision single
    overlapped "$claim, single precision, halos through the host" "$view" 1e-6 "$processes" $cube \
      -pc_kcycle_precision single -mg_levels_pc_relax_type jacobi -use_gpu_aware_mpi 0
    rim "Richardson, symmetric sweeps" $cube -ksp_type richardson -mg_levels_pc_relax_order symmetric
  done
}

# A product is two kernels where processes have as many points as the table of thresholds says, and one below
products() {
  most=$(awk '/INT\(KCYCLE_OVERLAP,/ { sub(/,$/, "", $2); print $2 }' \
    "$KC_TOP/include/petsckcycle/private/policyimpl.h")
  few="-dm_mat_type stencil -pc_type none -ksp_max_it 1"
  # shellcheck disable=SC2086 # words
  check "products of large matrices, too" "launches: " more_launches \
    "$(want 2.cuda $few -cells $((most / 5000 - 2)),100,100)" "$(want 2.cuda $few -cells $((most / 5000)),100,100)"
}

more_launches() { # answer answer
  for which; do sed -n 's/^cudahost: .* \([0-9]*\) launches;.*/\1/p' "$(answer "$which")"; done |
    xargs > "$KC_WORK/launches"
  read -r below enough < "$KC_WORK/launches"
  echo "launches: $below with fewer points, $enough with $most of each process"
  [ "$enough" -gt "$below" ]
}

begin "inner points, then the rim, as all at once"
programs_overlapped
products
finish
