#!/bin/sh
# Red-black sweeps that are fused in tiles with a part of the grid in shared memory (src/kernel/cuda/parttilecuda.cu),
# run on the host by the stand-ins of tests/cudahost. Iterations and residuals are, digit by digit, those of a launch
# for each half sweep. Residuals differ from the host's by at most 1e-12 of the first one. Grids are smaller than a
# part, larger, and no multiple of one.
# Run by: make check SEARCH=device_parts
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
. "$KC_TOP/tests/cudahost/tiles.sh"

# All levels have parts
parts() { # claim levels part options...
  claim_of=$1 levels=$2
  shift 2
  tiles "$claim_of" 0 "$levels" "$@"
}

# shellcheck disable=SC2086 # words
sizes() {
  claim="parts as half sweeps by themselves"
  for kappa in 1 2 w; do
    parts "$claim, 2D, kappa $kappa" 5 1e-12 $square -pc_kcycle_kappa $kappa -ksp_max_it 3
    parts "$claim, 3D, kappa $kappa" 3 1e-12 $cube -pc_kcycle_kappa $kappa -ksp_max_it 3
  done
  for sweeps in 1 2 3 4; do
    parts "$claim, 2D, even and odd sizes, sweeps: $sweeps" 4 1e-12 -cells 47,34 -ends ss,ss \
      -mg_levels_ksp_max_it $sweeps -pc_kcycle_semicoarsen xy $points
    parts "$claim, 3D, even and odd sizes, sweeps: $sweeps" 3 1e-12 -cells 18,23,13 -ends ss,ss,ss \
      -mg_levels_ksp_max_it $sweeps -pc_kcycle_semicoarsen xyz -ksp_max_it 4 $points
  done
  parts "$claim, 2D, of 5 points" 1 1e-12 -cells 5,5 -ends ss,ss
  parts "$claim, 3D, 33 points, of which parts have a few" 4 1e-12 -cells 33,33,33 -ends ss,ss,ss -ksp_max_it 2
  parts "$claim, 2D, Neumann" 5 1e-12 $square -ends nn,nn -pc_kcycle_kappa 2
  device 40.48 parts "$claim, 2D, large parts on a small device" 6 1e-12 -cells 131,97 -ends ss,ss -ksp_max_it 3 $points
  device 132.32 parts "$claim, 3D, one half sweep or a few in a small block, kappa 2" 4 1e-12 -cells 18,36,18 \
    -ends ss,ss,ss -pc_kcycle_kappa 2 $points
  parts "$claim, 3D, coarsened in x and z" 4 1e-12 -cells 20,18,16 -ends ss,ss,ss -pc_kcycle_semicoarsen xz \
    -pc_kcycle_kappa 2 $points
  parts "$claim, symmetric sweeps" 5 1e-12 $square -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1
  parts "$claim, backward ones, three of them" 3 1e-12 $cube -mg_levels_pc_relax_order backward \
    -mg_levels_ksp_max_it 3 -pc_kcycle_kappa 2
  parts "$claim, over-relaxation" 3 1e-12 $cube -mg_levels_pc_relax_omega 1.1
  parts "$claim, Richardson, which tests the residual of the finest level" 3 1e-12 $cube -ksp_type richardson
  parts "$claim, 2D, single precision" 5 2e-6 $square -pc_kcycle_precision single
  parts "$claim, 3D, single precision, kappa 2" 3 2e-6 $cube -pc_kcycle_precision single -pc_kcycle_kappa 2
  default=$(want 1.cuda -dm_mat_type stencil $square -ksp_max_it 2) above=$(want 1.cuda -dm_mat_type stencil $square \
    -ksp_max_it 2 -pc_kcycle_tile_above 1100)
  check "not tiled by default" "" count_tiled 0 "$default"
  check "levels with 1100 unknowns and more are tiled" "" count_tiled 1 "$above"
  check "which do not share a kernel with coarser ones" "one kernel does what cycles do on level 4 and coarser ones" \
    cat_answer "$above"
}

begin "parts as half sweeps by themselves"
sizes
finish
