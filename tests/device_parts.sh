#!/bin/sh
# Red-black sweeps that are fused in tiles that have a part of the grid in shared memory (src/kernel/cuda/parttilecuda.cu), run on the host by the stand-ins of tests/cudahost:
# iterations and residuals are, digit by digit, those of a launch for each half sweep, and to 1e-12 of the first residual those of the host. Grids are smaller than a part, larger,
# and no multiple of one.
# Run by: make check SEARCH=device_parts
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
. "$KC_TOP/tests/cudahost/tiles.sh"

# All levels have parts
parted() { # levels part program options...
  levels=$1
  shift
  tiled 0 "$levels" "$@"
}

# shellcheck disable=SC2086 # words
sizes() {
  claim="parts as half sweeps by themselves"
  for kappa in 1 2 w; do
    works "$claim, 2D, kappa $kappa" "" parted 5 1e-12 ex29 $square -pc_kcycle_kappa $kappa -ksp_max_it 3
    works "$claim, 3D, kappa $kappa" "" parted 3 1e-12 ex45 $cube -pc_kcycle_kappa $kappa -ksp_max_it 3
  done
  for sweeps in 1 2 3 4; do
    works "$claim, 2D, even and odd sizes, sweeps: $sweeps" "" parted 4 1e-12 ex29 -da_grid_x 47 -da_grid_y 34 -mg_levels_ksp_max_it $sweeps -pc_kcycle_semicoarsen xy $points
    works "$claim, 3D, even and odd sizes, sweeps: $sweeps" "" parted 3 1e-12 ex45 -da_grid_x 18 -da_grid_y 23 -da_grid_z 13 -mg_levels_ksp_max_it $sweeps -pc_kcycle_semicoarsen xyz -ksp_max_it 4 $points
  done
  works "$claim, 2D, of 5 points" "" parted 1 1e-12 ex29 -da_grid_x 5 -da_grid_y 5
  works "$claim, 3D, 33 points, of which parts have a few" "" parted 4 1e-12 ex45 -da_grid_x 33 -da_grid_y 33 -da_grid_z 33 -ksp_max_it 2
  works "$claim, 2D, Neumann" "" parted 5 1e-12 ex29 $square -bc_type neumann -pc_kcycle_kappa 2
  works "$claim, 2D, large parts on a small device" "" device 40 48 tiled 0 12 1e-12 ex29 -da_grid_x 131 -da_grid_y 97 -ksp_max_it 3 $points
  works "$claim, 3D, one half sweep or a few in a small block, kappa 2" "" device 132 32 tiled 0 4 1e-12 ex45 -da_grid_x 18 -da_grid_y 36 -da_grid_z 18 -pc_kcycle_kappa 2 $points
  works "$claim, 3D, coarsened in x and z" "" parted 4 1e-12 ex45 -da_grid_x 20 -da_grid_y 18 -da_grid_z 16 -pc_kcycle_semicoarsen xz -pc_kcycle_kappa 2 $points
  works "$claim, symmetric sweeps" "" parted 5 1e-12 ex29 $square -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1
  works "$claim, backward ones, three of them" "" parted 3 1e-12 ex45 $cube -mg_levels_pc_relax_order backward -mg_levels_ksp_max_it 3 -pc_kcycle_kappa 2
  works "$claim, over-relaxation" "" parted 3 1e-12 ex45 $cube -mg_levels_pc_relax_omega 1.1
  works "$claim, Richardson, which tests the residual of the finest level" "" parted 3 1e-12 ex45 $cube -ksp_type richardson
  works "$claim, 2D, single precision" "" parted 5 1e-6 ex29 $square -pc_kcycle_precision single
  works "$claim, 3D, single precision, kappa 2" "" parted 3 1e-6 ex45 $cube -pc_kcycle_precision single -pc_kcycle_kappa 2
  works "not tiled by default: levels with matrices" "" solve few ex29 cuda $square -ksp_max_it 2 -pc_kcycle_matrix_below 1100
  works "but those above, from $(awk '/INT\(KCYCLE_TILED,/ { sub(/,$/, "", $2); print $2 }' "$KC_TOP/include/petsckcycle/private/policyimpl.h") unknowns on" "^1\$" \
    grep -c 'points, tiled in parts' "$KC_WORK/few"
  works "which do not share a kernel with coarser ones" "one kernel does what cycles do on level 4 and coarser ones" cat "$KC_WORK/few"
}

begin_tiles "parts as half sweeps by themselves"
sizes
