#!/bin/sh
# Red-black sweeps that are fused in tiles, which march through the grid on a device (src/kernel/cuda/tilecuda.cu), run
# on the host by the stand-ins of tests/cudahost. Iterations and residuals are, digit by digit, those of a launch for
# each half sweep. Residuals differ from the host's by at most 1e-12 of the first one. Grids are smaller than a tile,
# larger, and no multiple of one. On a device with one multiprocessor, or a few, each has a march; a GPU (KC_GPU) has
# more of them, and needs large grids.
# Run by: make check SEARCH=device_tiles
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
. "$KC_TOP/tests/cudahost/tiles.sh"

# On a device with one multiprocessor all levels march
march() { # claim levels part options...
  claim_of=$1 levels=$2
  shift 2
  device 1.227 tiles "$claim_of" "$levels" 0 "$@"
}

# The largest level marches, at least
# shellcheck disable=SC2086 # words
large() {
  claim="tiles as half sweeps by themselves, large grids"
  for kappa in 1 w; do
    tiles "$claim, 2D, kappa $kappa" + + 1e-12 $plane -pc_kcycle_kappa $kappa -ksp_max_it 3
    tiles "$claim, 3D, kappa $kappa" + + 1e-12 $space -pc_kcycle_kappa $kappa -ksp_max_it 3
  done
  tiles "$claim, 2D, full multigrid" + + 1e-12 $plane -pc_mg_type full -ksp_max_it 3
  tiles "$claim, 2D, several tiles along x" + + 1e-12 -cells 1517,1370 -ends ss,ss -ksp_max_it 3
  tiles "$claim, 3D, even and odd sizes, symmetric sweeps" + + 1e-12 -cells 130,161,129 -ends ss,ss,ss \
    -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1 -ksp_max_it 3
  tiles "$claim, 3D, Richardson" + + 1e-12 $space -ksp_type richardson -ksp_max_it 3
  tiles "$claim, 3D, single precision" + + 2e-6 $space -pc_kcycle_precision single -ksp_max_it 3
  tiles "$claim, 2D, single precision, each kernel launched" + + 2e-6 $plane -pc_kcycle_precision single \
    -pc_kcycle_graph off -ksp_max_it 3
}

# shellcheck disable=SC2086 # words
sizes() {
  claim="tiles as half sweeps by themselves"
  for kappa in 1 2 w; do
    march "$claim, 2D, kappa $kappa" 5 1e-12 $square -pc_kcycle_kappa $kappa
    march "$claim, 3D, kappa $kappa" 3 1e-12 $cube -pc_kcycle_kappa $kappa
  done
  march "$claim, 2D, full multigrid" 5 1e-12 $square -pc_mg_type full
  march "$claim, 3D, full multigrid" 3 1e-12 $cube -pc_mg_type full
  march "$claim, 2D, several tiles along x, kappa 2" 8 1e-12 -cells 517,37 -ends ss,ss -pc_kcycle_kappa 2 $points
  march "$claim, 2D, several marches, even sizes" 6 1e-12 -cells 70,140 -ends ss,ss -pc_kcycle_kappa 2
  device 4.227 tiles "$claim, 3D, several tiles along x and y, two marches, smaller levels in parts" + + 1e-12 \
    -cells 67,41,19 -ends ss,ss,ss $points -ksp_max_it 2
  device 1.64 tiles "$claim, 3D, tiles of the smallest size, even sizes, kappa 2" 4 0 1e-12 -cells 18,36,18 \
    -ends ss,ss,ss -pc_kcycle_kappa 2 $points
  march "$claim, 3D, coarsened in x and z" 4 1e-12 -cells 20,18,16 -ends ss,ss,ss -pc_kcycle_semicoarsen xz \
    -pc_kcycle_kappa 2 $points
  march "$claim, symmetric sweeps" 5 1e-12 $square -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1
  march "$claim, backward ones, three of them" 3 1e-12 $cube -mg_levels_pc_relax_order backward \
    -mg_levels_ksp_max_it 3 -pc_kcycle_kappa 2
  march "$claim, over-relaxation" 3 1e-12 $cube -mg_levels_pc_relax_omega 1.1
  march "$claim, Richardson, which tests the residual of the finest level" 3 1e-12 $cube -ksp_type richardson
  march "$claim, other sweeps up than down" 3 1e-12 $cube -pc_mg_distinct_smoothup -mg_levels_ksp_max_it 3 \
    -mg_levels_up_ksp_max_it 1 -pc_kcycle_kappa 2
  march "$claim, 2D, single precision" 5 2e-6 $square -pc_kcycle_precision single
  march "$claim, 3D, single precision, kappa 2" 3 2e-6 $cube -pc_kcycle_precision single -pc_kcycle_kappa 2
  march "$claim, each kernel launched" 3 1e-12 $cube -pc_kcycle_graph off -pc_kcycle_kappa 2
  device 1.227 few "a level with two sweeps has two kernels" 7 $cube -mg_levels_ksp_max_it 2
  march "not tiled: other smoothers" 0 1e-12 $cube -mg_levels_pc_relax_type eightcolor
}

plane="-cells 1025,1025 -ends ss,ss" space="-cells 129,129,129 -ends ss,ss,ss"
begin "tiles as half sweeps by themselves"
if [ -n "${KC_GPU:-}" ]; then large; else sizes; fi
finish
