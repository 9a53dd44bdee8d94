#!/bin/sh
# Red-black sweeps that are fused in tiles that march on a device (src/kernel/cuda/tilecuda.cu), run on the host by the stand-ins of tests/cudahost: iterations and residuals are,
# digit by digit, those of a launch for each half sweep, and to 1e-12 of the first residual those of the host. Grids are smaller than a tile, larger, and no multiple of one; on a
# device with one multiprocessor, or a few, they give each of these a march.
# Run by: make check SEARCH=device_tiles
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
. "$KC_TOP/tests/cudahost/tiles.sh"

# On a device with one multiprocessor all levels march
march() { # levels part program options...
  levels=$1
  shift
  device 1 227 tiled "$levels" 0 "$@"
}

# shellcheck disable=SC2086 # words
sizes() {
  claim="tiles as half sweeps by themselves"
  for kappa in 1 2 w; do
    works "$claim, 2D, kappa $kappa" "" march 5 1e-12 ex29 $square -pc_kcycle_kappa $kappa
    works "$claim, 3D, kappa $kappa" "" march 3 1e-12 ex45 $cube -pc_kcycle_kappa $kappa
  done
  works "$claim, 2D, full multigrid" "" march 5 1e-12 ex29 $square -pc_mg_type full
  works "$claim, 3D, full multigrid" "" march 3 1e-12 ex45 $cube -pc_mg_type full
  works "$claim, 2D, several tiles along x, kappa 2" "" march 8 1e-12 ex29 -da_grid_x 517 -da_grid_y 37 -pc_kcycle_kappa 2 $points
  works "$claim, 2D, several marches, even sizes" "" march 6 1e-12 ex29 -da_grid_x 70 -da_grid_y 140 -pc_kcycle_kappa 2
  works "$claim, 3D, several tiles along x and y, two marches, smaller levels in parts" "" \
    device 4 227 tiled 2 2 1e-12 ex45 -da_grid_x 67 -da_grid_y 41 -da_grid_z 19 $points -ksp_max_it 2
  works "$claim, 3D, tiles of the smallest size, even sizes, kappa 2" "" device 1 64 tiled 4 0 1e-12 ex45 -da_grid_x 18 -da_grid_y 36 -da_grid_z 18 -pc_kcycle_kappa 2 $points
  works "$claim, 3D, coarsened in x and z" "" march 4 1e-12 ex45 -da_grid_x 20 -da_grid_y 18 -da_grid_z 16 -pc_kcycle_semicoarsen xz -pc_kcycle_kappa 2 $points
  works "$claim, symmetric sweeps" "" march 5 1e-12 ex29 $square -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1
  works "$claim, backward ones, three of them" "" march 3 1e-12 ex45 $cube -mg_levels_pc_relax_order backward -mg_levels_ksp_max_it 3 -pc_kcycle_kappa 2
  works "$claim, over-relaxation" "" march 3 1e-12 ex45 $cube -mg_levels_pc_relax_omega 1.1
  works "$claim, Richardson, which tests the residual of the finest level" "" march 3 1e-12 ex45 $cube -ksp_type richardson
  works "$claim, other sweeps up than down" "" march 3 1e-12 ex45 $cube -pc_mg_distinct_smoothup -mg_levels_ksp_max_it 3 -mg_levels_up_ksp_max_it 1 -pc_kcycle_kappa 2
  works "$claim, 2D, single precision" "" march 5 1e-6 ex29 $square -pc_kcycle_precision single
  works "$claim, 3D, single precision, kappa 2" "" march 3 1e-6 ex45 $cube -pc_kcycle_precision single -pc_kcycle_kappa 2
  works "$claim, each kernel launched" "" march 3 1e-12 ex45 $cube -pc_kcycle_graph off -pc_kcycle_kappa 2
  works "a level with two sweeps has two kernels" "" device 1 227 few 7 ex45 $cube -mg_levels_ksp_max_it 2
  works "not tiled: other smoothers" "" march 0 1e-12 ex45 $cube -mg_levels_pc_relax_type eightcolor
}

begin_tiles "tiles as half sweeps by themselves"
sizes
