#!/bin/sh
# Visits of small levels on the device as products with matrices: iterations and residuals are those of the host, for each cycle, smoother and operator; matrices follow new values.
# Run by: make check SEARCH=device_matrix
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
steps="-pc_kcycle_matrix_below 150" # stand-ins take tens of seconds for a W-cycle and 1000 unknowns

# ... and products have fewer kernels than steps: those of the finest level, and of the next one where it is in no matrix
fewer() { # part program options...
  part=$1 program=$2
  shift 2
  same_history "$part" "$program" 1 stencil "$@" || return 1
  mpi 1 "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type stencil -dm_vec_type cuda -ksp_view -pc_kcycle_block_below 0 "$@" \
    > "$KC_WORK/apart" 2>&1 || { cat "$KC_WORK/apart"; return 1; }
  awk '/ with kappa [0-9w]*: / { kernels[NR == FNR] = $(NF - 3) } END { print kernels[1] " kernels, or " kernels[0]; exit !(kernels[1] > 0 && kernels[1] < kernels[0]) }' \
    "$KC_WORK/cuda" "$KC_WORK/apart"
}

# shellcheck disable=SC2086 # words
matrices() {
  says="from the second cycle on it is a product with a matrix of [1-9][0-9]*^2 numbers: [1-9][0-9]* of these"
  for kappa in 1 2 3 w; do
    case $kappa in 2) many=2 more=2 ;; 3) many=2 more=3 ;; *) many=1 more=1 ;; esac # the kappas with which the next finer level is visited
    works "products with matrices, 3D, kappa $kappa: $many of them" "${says%%:*}: $many of these" fewer 1e-12 ex45 $cube -pc_kcycle_kappa $kappa
    works "products with matrices, 2D, kappa $kappa, no graphs: $more of them" "${says%%:*}: $more of these" fewer 1e-12 ex29 $square -pc_kcycle_kappa $kappa -pc_kcycle_graph off
  done
  for kappa in 2 w; do
    works "products with matrices, single precision, kappa $kappa" "$says" same_history 1e-6 ex29 1 stencil $square -pc_kcycle_kappa $kappa -pc_kcycle_precision single
  done
  works "products with matrices, 9^3 unknowns in one, the default" "a matrix of 729^2 numbers" same_history 1e-12 ex45 1 stencil $cube -pc_kcycle_matrix_below 1100
  for type in jacobi chebyshev redblack eightcolor; do
    works "products with matrices, coefficients that vary, two periodic directions, $type" "$says" same_history 1e-12 battery 1 stencil -cells 20,18,16 -random 3 -ends pp,ss,nn $points \
      -mg_levels_pc_relax_type $type -pc_kcycle_kappa 2
  done
  works "products with matrices, 27 coefficients that vary" "$says" same_history 1e-12 battery 1 stencil -cells 20,18,16 -scheme elements -random 3 $points -pc_kcycle_kappa 3
  works "products with matrices, jumps" "$says" same_history 1e-12 battery 1 stencil -cells 33,25 -random 1000 $points -pc_kcycle_kappa w
  works "products with matrices, prisms" "$says" same_history 1e-12 battery 1 stencil -cells 40,6,5 -random 3 -pc_kcycle_semicoarsen x $points
  works "products with matrices, one dimension" "$says" same_history 1e-12 ex25 1 stencil -da_grid_x 1025 -pc_kcycle_kappa 2
  for ends in nn,nn pp,pp pp,nn; do
    works "products with matrices, a singular operator, $ends" "$says" same_history 1e-12 battery 1 stencil -cells 32,28 -random 3 -ends $ends $points -pc_kcycle_kappa 2
  done
  works "products with matrices, convection" "$says" same_history 1e-12 battery 1 stencil -cells 40,36 -wind constant -angle 15 -peclet 10 -ksp_type bcgs $points -pc_kcycle_kappa w
  for type in multiplicative full; do
    works "products with matrices, transposes, $type" "$says" same_history 1e-10 battery 1 stencil -cells 20,18,16 -random 3 $points -pc_mg_type $type -ksp_type bicg -pc_kcycle_kappa 3
    works "products with matrices, two cycles, $type" "$says" same_history 1e-12 ex45 1 stencil $cube -pc_mg_type $type -pc_mg_multiplicative_cycles 2 -pc_kcycle_kappa 2
  done
  works "products with matrices, Richardson" "$says" same_history 1e-12 ex45 1 stencil $cube -ksp_type richardson
  for reuse in false true; do
    works "products with matrices, values change between solves, the preconditioner is kept: $reuse" "$says" same_history 1e-12 heat 1 aijcusparse -n 24 -steps 6 -double 3 -limit 30 \
      -ksp_reuse_preconditioner $reuse -pc_kcycle_kappa 2 -pc_kcycle_matrix_below 300
  done
}

# shellcheck disable=SC2086 # words
limits() {
  works "the limit is a number of unknowns" "one kernel does what cycles do on level 2 and coarser ones: they have fewer than 5000 unknowns" \
    same_history 1e-12 ex45 1 stencil $cube -pc_kcycle_matrix_below 0
  works "levels that share no kernel have no matrix" "each level has kernels of its own: -pc_kcycle_block_below is 0" same_history 1e-12 ex45 1 stencil $cube -pc_kcycle_block_below 0
  works "steps that are logged are steps" "each level has kernels of its own: -pc_mg_log logs each step" same_history 1e-12 ex45 1 stencil $cube -pc_mg_log
  works "one cycle has no matrix" "it is a product with a matrix of [1-9][0-9]*^2 numbers: 0 of these" \
    mpi 1 "$KC_WORK/ex45" -dll_append "$plugin" -pc_type kcycle -dm_mat_type stencil -dm_vec_type cuda $cube -ksp_type preonly -ksp_view $steps
  refuses "a limit below zero" "-pc_kcycle_matrix_below is a number of unknowns, not -1" mpi 1 "$KC_WORK/ex45" -dll_append "$plugin" -pc_type kcycle $cube -pc_kcycle_matrix_below -1
}

programs() {
  for program in ex45 ex29 ex25; do
    compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
  done
  compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
  compile c "$KC_TOP/examples/tutorials/heat.c" "$KC_WORK/heat" -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" > "$log" 2>&1 || not_ok "heat.c compiles" "with cuda"
}

begin "products with matrices"
programs
matrices
limits
