#!/bin/sh
# Small levels on the device in one kernel of one block: the numbers are those of kernels of their own, for each
# smoother that one block can run; other levels are left out.
# Run by: make check SEARCH=device_block
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Small levels in one kernel: the numbers are those of kernels of their own to the last bit, and a cycle has fewer
# kernels
same_bits() { # claim pattern options...
  claim_of=$1 pattern_of=$2
  shift 2
  check "$claim_of" "$pattern_of" bits \
    "$(want 1.cuda -dm_mat_type stencil -pc_kcycle_block_below 5000 -pc_kcycle_matrix_below 0 "$@")" \
    "$(want 1.cuda -dm_mat_type stencil -pc_kcycle_block_below 0 -pc_kcycle_matrix_below 0 "$@")"
}

one_kernel() { what=$1; shift; same_bits "small levels in one kernel, the same bits, $what" "$says" "$@"; }

# shellcheck disable=SC2086 # words
blocks() {
  says="one kernel does what cycles do on level [1-9][0-9]* and coarser ones: they have fewer than 5000 unknowns"
  for kappa in $(some_of 1 2 3 w); do
    one_kernel "3D, kappa $kappa" $cube -pc_kcycle_kappa $kappa
    one_kernel "2D, kappa $kappa, no graphs" -cells 65,65 -ends ss,ss -pc_kcycle_kappa $kappa -pc_kcycle_graph off
  done
  one_kernel "17^3 points in it" -cells 33,33,33 -ends ss,ss,ss -ksp_max_it 2
  one_kernel "65^2 points in it" -cells 129,129 -ends ss,ss -ksp_max_it 2
  one_kernel "fourcolor" -cells 65,65 -ends ss,ss -mg_levels_pc_relax_type fourcolor
  for type in jacobi chebyshev redblack eightcolor; do
    one_kernel "$type" -cells 20,18,16 -random 3 -ends pp,ss,nn $points \
      -mg_levels_pc_relax_type $type -pc_kcycle_kappa 2
  done
  one_kernel "full multigrid" $cube -pc_mg_type full
  one_kernel "single precision, kappa w" -cells 65,65 -ends ss,ss -pc_kcycle_kappa w -pc_kcycle_precision single
  one_kernel "27 coefficients that vary" -cells 20,18,16 -scheme elements -random 3 $points -pc_kcycle_kappa 3
  one_kernel "prisms" -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen x $points
  one_kernel "one dimension" -cells 1025 -ends ss
  for full in multiplicative full; do
    one_kernel "transposes, $full" -cells 20,18,16 -random 3 $points -pc_mg_type $full -ksp_type bicg -pc_kcycle_kappa 3
  done
  one_kernel "Richardson" $cube -ksp_type richardson
  one_kernel "corrections multiplied" -cells 65,65 -ends ss,ss -pc_kcycle_overcorrect 1.06
  same_bits "a W-cycle of many levels is too long for one kernel: it has several" \
    "but for [1-9][0-9]* of these visits, which are too long for it" -cells 4097 -ends ss -pc_kcycle_kappa w
  for reuse in false true; do
    same "small levels in one kernel, values change between solves, the preconditioner is kept: $reuse" "$says" 1e-12 \
      1 aijcusparse -cells 24,24 -ends ss,ss -renew 3 -ksp_reuse_preconditioner $reuse -pc_kcycle_kappa 2
  done
  same "the limit is a number of unknowns" \
    "each level has its own kernels: level 1 does not relax points, is tiled, or has not fewer than 20 unknowns" \
    1e-12 1 stencil $cube -pc_kcycle_block_below 20
  same "another coarsest solver" "each level has its own kernels: the host has to do with the coarsest problem" \
    1e-12 1 stencil $cube -mg_coarse_pc_type lu
}

begin "small levels in one kernel"
blocks
finish
