#!/bin/sh
# Visits of small levels on the device as products with matrices: iterations and residuals are those of the host, for
# each cycle, smoother and operator; matrices follow new values.
# Run by: make check SEARCH=device_matrix
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
steps="-pc_kcycle_matrix_below 150" # stand-ins take tens of seconds for a W-cycle and 1000 unknowns

# ... and products have fewer kernels than steps: those of the finest level, and of the next one where it is in no
# matrix
# shellcheck disable=SC2086 # words
fewer() { # claim pattern part options...
  claim_of=$1 pattern_of=$2 part=$3
  shift 3
  check "$claim_of" "$pattern_of" with_fewer "$part" "$(want 1.cuda -dm_mat_type stencil $steps "$@")" \
    "$(want_host 1 -dm_mat_type stencil "$@")" "$(want 1.cuda -dm_mat_type stencil -pc_kcycle_block_below 0 "$@")"
}

product() { what=$1; shift; same "products with matrices, $what" "$says" 1e-12 1 "$@"; }

# shellcheck disable=SC2086 # words
matrices() {
  says="from the second cycle on it is a product with a matrix of [1-9][0-9]*^2 numbers: [1-9][0-9]* of these"
  for kappa in 1 2 3 w; do
    case $kappa in 2 | 3) many=2 ;; *) many=1 ;; esac # the kappas with which the next finer level is visited
    fewer "products with matrices, 3D, kappa $kappa: $many of them" "${says%%:*}: $many of these" 1e-12 $cube \
      -pc_kcycle_kappa $kappa
    fewer "products with matrices, 2D, kappa $kappa, no graphs: $many of them" "${says%%:*}: $many of these" 1e-12 \
      $square -pc_kcycle_kappa $kappa -pc_kcycle_graph off
  done
  for kappa in 2 w; do
    same "products with matrices, single precision, kappa $kappa" "$says" 1e-6 1 stencil $square \
      -pc_kcycle_kappa $kappa -pc_kcycle_precision single
  done
  same "products with matrices, 9^3 unknowns in one, the default" "a matrix of 729^2 numbers" 1e-12 1 stencil $cube \
    -pc_kcycle_matrix_below 1100
  for type in jacobi chebyshev redblack eightcolor; do
    product "coefficients that vary, two periodic directions, $type" stencil -cells 20,18,16 -random 3 -ends pp,ss,nn \
      $points -mg_levels_pc_relax_type $type -pc_kcycle_kappa 2
  done
  product "27 coefficients that vary" stencil -cells 20,18,16 -scheme elements -random 3 $points -pc_kcycle_kappa 3
  product "jumps" stencil -cells 33,25 -random 1000 $points -pc_kcycle_kappa w
  product "prisms" stencil -cells 40,6,5 -random 3 -pc_kcycle_semicoarsen x $points
  product "one dimension" stencil -cells 1025 -ends ss -random 3 -pc_kcycle_interpolation linear -pc_kcycle_kappa 2
  for ends in nn,nn pp,pp pp,nn; do
    product "a singular operator, $ends" stencil -cells 32,28 -random 3 -ends $ends $points -pc_kcycle_kappa 2
  done
  product "convection" stencil -cells 40,36 -wind constant -angle 15 -peclet 10 -ksp_type bcgs $points \
    -pc_kcycle_kappa w
  for type in multiplicative full; do
    same "products with matrices, transposes, $type" "$says" 1e-10 1 stencil -cells 20,18,16 -random 3 $points \
      -pc_mg_type $type -ksp_type bicg -pc_kcycle_kappa 3
    product "two cycles, $type" stencil $cube -pc_mg_type $type -pc_mg_multiplicative_cycles 2 -pc_kcycle_kappa 2
  done
  product "Richardson" stencil $cube -ksp_type richardson
  for reuse in false true; do
    product "values change between solves, the preconditioner is kept: $reuse" aijcusparse -cells 24,24 -ends ss,ss \
      -renew 3 -ksp_reuse_preconditioner $reuse -pc_kcycle_kappa 2 -pc_kcycle_matrix_below 300
  done
}

# shellcheck disable=SC2086 # words
limits() {
  same "the limit is a number of unknowns" \
    "one kernel does what cycles do on level 2 and coarser ones: they have fewer than 5000 unknowns" 1e-12 1 stencil \
    $cube -pc_kcycle_matrix_below 0
  same "levels that share no kernel have no matrix" "each level has its own kernels: -pc_kcycle_block_below is 0" \
    1e-12 1 stencil $cube -pc_kcycle_block_below 0
  same "steps that are logged are steps" "each level has its own kernels: -pc_mg_log logs each step" 1e-12 1 \
    stencil $cube -pc_mg_log
  check "one cycle has no matrix" "it is a product with a matrix of [1-9][0-9]*^2 numbers: 0 of these" cat_answer \
    "$(want 1.cuda -dm_mat_type stencil $cube -ksp_type preonly $steps)"
}

begin "products with matrices"
matrices
limits
finish
compile c "$KC_TUTORIALS/ex45.c" "$KC_WORK/ex45" -w > "$log" 2>&1 || not_ok "ex45.c compiles" "with cuda"
refuses "a limit below zero" "-pc_kcycle_matrix_below is a number of unknowns, not -1" poisson 1 aij standard \
  -pc_kcycle_matrix_below -1
