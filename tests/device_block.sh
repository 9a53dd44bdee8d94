#!/bin/sh
# Small levels on the device in one kernel of one block: the numbers are those of kernels of their own, for each smoother that one block can run; other levels are left out.
# Run by: make check SEARCH=device_block
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Small levels in one kernel: the numbers are those of kernels of their own to the last bit, and a cycle has fewer kernels
same_bits() { # program options...
  program=$1
  shift
  for below in 5000 0; do
    mpi 1 "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type stencil -dm_vec_type cuda -ksp_converged_reason -ksp_view -malloc_dump \
      -ksp_view_solution "binary:$KC_WORK/bits_$below" -pc_kcycle_block_below $below -pc_kcycle_matrix_below 0 "$@" > "$KC_WORK/block_$below" 2>&1 || { cat "$KC_WORK/block_$below"; return 1; }
  done
  cat "$KC_WORK/block_5000"
  grep -q 'each level has kernels of its own: -pc_kcycle_block_below is 0' "$KC_WORK/block_0" || return 1
  cmp "$KC_WORK/bits_5000" "$KC_WORK/bits_0" || return 1
  awk '/ with kappa [0-9w]*: / { kernels[NR == FNR] = $(NF - 3) } END { print kernels[1] " kernels, or " kernels[0]; exit !(kernels[1] > 0 && 2 * kernels[1] <= kernels[0]) }' \
    "$KC_WORK/block_5000" "$KC_WORK/block_0"
}

# shellcheck disable=SC2086 # words
blocks() {
  says="one kernel does what cycles do on level [1-9][0-9]* and coarser ones: they have fewer than 5000 unknowns"
  for kappa in $(some_of 1 2 3 w); do
    works "small levels in one kernel, the same bits, 3D, kappa $kappa" "$says" same_bits ex45 $cube -pc_kcycle_kappa $kappa
    works "small levels in one kernel, the same bits, 2D, kappa $kappa, no graphs" "$says" same_bits ex29 -da_grid_x 65 -da_grid_y 65 -pc_kcycle_kappa $kappa -pc_kcycle_graph off
  done
  works "small levels in one kernel, the same bits, 17^3 points in it" "$says" same_bits ex45 -da_grid_x 33 -da_grid_y 33 -da_grid_z 33 -ksp_max_it 2
  works "small levels in one kernel, the same bits, 65^2 points in it" "$says" same_bits ex29 -da_grid_x 129 -da_grid_y 129 -ksp_max_it 2
  works "small levels in one kernel, the same bits, fourcolor" "$says" same_bits ex29 -da_grid_x 65 -da_grid_y 65 -mg_levels_pc_relax_type fourcolor
  for type in jacobi chebyshev redblack eightcolor; do
    works "small levels in one kernel, the same bits, $type" "$says" same_bits battery -cells 20,18,16 -random 3 -ends pp,ss,nn $points -mg_levels_pc_relax_type $type -pc_kcycle_kappa 2
  done
  works "small levels in one kernel, the same bits, full multigrid" "$says" same_bits ex45 $cube -pc_mg_type full
  works "small levels in one kernel, the same bits, single precision, kappa w" "$says" same_bits ex29 -da_grid_x 65 -da_grid_y 65 -pc_kcycle_kappa w -pc_kcycle_precision single
  works "small levels in one kernel, the same bits, 27 coefficients that vary" "$says" same_bits battery -cells 20,18,16 -scheme elements -random 3 $points -pc_kcycle_kappa 3
  works "small levels in one kernel, the same bits, prisms" "$says" same_bits battery -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen x $points
  works "small levels in one kernel, the same bits, one dimension" "$says" same_bits ex25 -da_grid_x 1025
  for full in multiplicative full; do
    works "small levels in one kernel, the same bits, transposes, $full" "$says" same_bits battery -cells 20,18,16 -random 3 $points -pc_mg_type $full -ksp_type bicg -pc_kcycle_kappa 3
  done
  works "small levels in one kernel, the same bits, Richardson" "$says" same_bits ex45 $cube -ksp_type richardson
  works "a W-cycle of many levels is too long for one kernel: it has several" "but for [1-9][0-9]* of these visits, which are too long for it" same_bits ex25 -da_grid_x 4097 -pc_kcycle_kappa w
  for reuse in false true; do
    works "small levels in one kernel, values change between solves, the preconditioner is kept: $reuse" "$says" same_history 1e-12 heat 1 aijcusparse -n 24 -steps 6 -double 3 -limit 30 \
      -ksp_reuse_preconditioner $reuse -pc_kcycle_kappa 2
  done
  works "the limit is a number of unknowns" "each level has kernels of its own: level 1 does not relax points, is tiled, or has not fewer than 20 unknowns" same_history 1e-12 ex45 1 stencil $cube -pc_kcycle_block_below 20
  works "another coarsest solver" "each level has kernels of its own: the host has to do with the coarsest problem" same_history 1e-12 ex45 1 stencil $cube -mg_coarse_pc_type lu
}

programs() {
  for program in ex45 ex29 ex25; do
    compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
  done
  compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
  compile c "$KC_TOP/examples/tutorials/heat.c" "$KC_WORK/heat" -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" > "$log" 2>&1 || not_ok "heat.c compiles" "with cuda"
}

begin "small levels in one kernel"
programs
blocks
