#!/bin/sh
# Levels on the device as on the host: iterations and residuals are the same for smoothers that relax points, all kinds of grids and cycles, on one and several processes.
# Run by: make check SEARCH=device_levels
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 1 2 4)}

# shellcheck disable=SC2086 # words
levels_on_device() {
  for processes in $counts; do
    claim="levels on the device as on the host, $processes processes"
    for kappa in 1 2 w; do works "$claim, kappa $kappa" "" same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_kappa $kappa; done
    for type in jacobi chebyshev redblack eightcolor; do works "$claim, $type" "" same_history 1e-12 ex45 $processes aijcusparse $cube -mg_levels_pc_relax_type $type; done
    works "$claim, two dimensions, four colours" "" same_history 1e-12 ex29 $processes stencil $square -mg_levels_pc_relax_type fourcolor
    works "$claim, coefficients that vary" "" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -ends pp,ss,nn $points
    works "$claim, 27 coefficients that vary" "" same_history 1e-12 battery $processes aijcusparse -cells 20,18,16 -scheme elements -random 3 -ends ss,pp,vv $points
    works "$claim, two dimensions, 9 coefficients that vary" "" same_history 1e-12 battery $processes stencil -cells 40,37 -scheme elements -random 3 -ends pp,ss $points
    works "$claim, an odd number of points that wraps around" "" same_history 1e-12 battery $processes aijcusparse -cells 39,37 -random 3 -ends pp,pp $points
    works "$claim, semicoarsening" "" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -layers 2:5 -pc_kcycle_semicoarsen xy $points
    for d in x z; do works "$claim, prisms along $d" "" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen $d $points; done
    works "$claim, single precision, coefficients that vary" "" same_history 1e-6 battery $processes stencil -cells 39,37 -random 3 -ends pp,pp -pc_kcycle_precision single \
      -pc_kcycle_kappa 2 $points
    works "$claim, 27 points" "" same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_interpolation operator
    works "$claim, an even number of points, a singular operator" "" same_history 1e-12 ex34 $processes aijcusparse -da_grid_x 16 -da_grid_y 14 -da_grid_z 12
    works "$claim, one dimension" "" same_history 1e-12 ex25 $processes stencil -da_grid_x 129 -mg_levels_pc_relax_type chebyshev
    for kappa in 1 2 w; do works "$claim, coarse ones on the host, kappa $kappa" "and coarser ones, one vector goes there and back a visit; level 1: it has fewer unknowns" \
      same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_host_below 300 -pc_kcycle_kappa $kappa; done
    works "$claim, the fastest part of them on the host" "pc_kcycle_host_below auto: [2-9] ways tried, [0-9.e-]* s a cycle; [0-9.e-]* s with all levels on the device" \
      same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_host_below auto -pc_kcycle_kappa 2
    works "$claim, coarse ones on the host, full multigrid" "and coarser ones" same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_host_below 1000 -pc_mg_type full
    works "$claim, coarse ones on the host, Richardson" "and coarser ones" same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_host_below 1000 -ksp_type richardson
    works "$claim, coarse ones on the host, single precision" "and coarser ones" same_history 1e-6 ex45 $processes stencil $cube -pc_kcycle_host_below 1000 \
      -pc_kcycle_precision single -pc_kcycle_kappa 2
    works "$claim, coarse ones on the host, as a smoother is" "level 1: its planes are relaxed on the host" same_history 1e-12 ex45 $processes stencil $cube \
      -mg_levels_1_pc_relax_type planes -mg_levels_1_planes_pc_kcycle_place host
    works "$claim, each kernel launched" "launched kernel by kernel: " same_history 1e-12 ex45 $processes stencil $cube -pc_kcycle_kappa 2 -pc_kcycle_graph off
    works "$claim, full multigrid" "" same_history 1e-12 ex45 $processes stencil $cube -pc_mg_type full
    works "$claim, Richardson" "" same_history 1e-12 ex45 $processes stencil $cube -ksp_type richardson
    works "$claim, single precision" "" same_history 1e-6 ex45 $processes stencil $cube -pc_kcycle_precision single
    works "$claim, single precision, Chebyshev, F-cycles" "" same_history 1e-6 ex45 $processes aijcusparse $cube -pc_kcycle_precision single -mg_levels_pc_relax_type chebyshev \
      -pc_kcycle_kappa 2
    for type in jacobi chebyshev redblack; do works "sweeps on the device as on the host, $processes processes, $type" "" same_history 1e-12 ex45 $processes aijcusparse $cube -pc_type relax \
      -pc_relax_type $type; done
    works "$claim, halos through the host" "" same_history 1e-12 battery $processes aijcusparse -cells 39,37 -random 3 -ends pp,pp $points -use_gpu_aware_mpi 0
    works "$claim, halos through the host, single precision" "" same_history 1e-6 ex45 $processes stencil $cube -pc_kcycle_precision single -use_gpu_aware_mpi 0
    works "$claim, Richardson in single precision" "" same_history 1e-6 ex45 $processes stencil $cube -pc_kcycle_precision single -ksp_type richardson
  done
  works "vectors of the host, levels on the device" "structured levels on the device.*: vectors are copied 2 times a cycle" poisson 1 aij standard -pc_kcycle_place device
}

programs() {
  for program in ex45 ex29 ex34 ex25; do
    compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
  done
  compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
}

begin "levels on the device as on the host"
programs
levels_on_device
