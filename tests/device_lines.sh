#!/bin/sh
# Smoothers that relax lines, and corrections of clusters, on the device as on the host: iterations and residuals are the same, on one and several processes.
# Run by: make check SEARCH=device_lines
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 1 2 4)}

# Smoothers that relax lines, also where processes have parts of these or they wrap around, and corrections of clusters
# shellcheck disable=SC2086 # words
lines_and_clusters() {
  lines="-repeat 1 -mg_levels_pc_relax_clusters off -mg_levels_pc_relax_type" clusters="-repeat 1 -mg_levels_pc_relax_clusters on -mg_levels_pc_relax_type"
  found="[1-9][0-9]* clusters of strongly coupled points"
  for processes in $counts; do
    claim="levels on the device as on the host, $processes processes"
    split="-da_processors_x $processes -da_processors_y 1 -da_processors_z 1"
    for d in x y z; do works "$claim, lines along $d" "" same_history 1e-12 ex45 $processes stencil $cube -mg_levels_pc_relax_type zebra_$d; done
    for kappa in 2 w; do works "$claim, lines along all directions, kappa $kappa" "" same_history 1e-12 ex45 $processes stencil $cube -mg_levels_pc_relax_type alternating \
      -pc_kcycle_kappa $kappa; done
    [ $processes = 1 ] || works "$claim, lines along x that are cut" "lines along x" same_history 1e-12 ex45 $processes aijcusparse $cube $split -mg_levels_pc_relax_type zebra_x
    works "$claim, lines of 27 points" "lines along z, x" same_history 1e-12 ex45 $processes stencil $cube $split -mg_levels_pc_relax_type alternating \
      -mg_levels_pc_relax_directions zx -pc_kcycle_interpolation operator
    for d in x y z; do
      works "$claim, lines along $d, coefficients that vary" "" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -ends pp,ss,nn $lines zebra_$d
      works "$claim, lines along $d, 27 coefficients that vary" "" same_history 1e-12 battery $processes aijcusparse -cells 10,18,16 -scheme elements -random 3 -ends ss,pp,pp \
        $lines zebra_$d
    done
    for d in x y; do
      works "$claim, two dimensions, lines along $d" "" same_history 1e-12 ex29 $processes stencil $square -mg_levels_pc_relax_type zebra_$d
      works "$claim, two dimensions, lines along $d, 9 coefficients that vary" "" same_history 1e-12 battery $processes stencil -cells 40,37 -scheme elements -random 3 -ends pp,ss \
        $lines zebra_$d
      works "$claim, lines along $d, an odd number of points that wraps around" "" same_history 1e-12 battery $processes aijcusparse -cells 39,37 -random 3 -ends pp,pp $lines zebra_$d
    done
    works "$claim, lines, damped sweeps" "omega 0.8" same_history 1e-12 battery $processes stencil -cells 39,37 -random 3 $lines alternating -mg_levels_pc_relax_omega 0.8 \
      -mg_levels_ksp_max_it 2
    works "$claim, lines, prisms" "" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen z $lines zebra_x
    works "$claim, one line, damped" "" same_history 1e-12 ex25 $processes stencil -da_grid_x 129 -mg_levels_pc_relax_type zebra_x -mg_levels_pc_relax_omega 0.7
    works "$claim, lines, single precision" "" same_history 1e-6 battery $processes stencil -cells 39,37 -random 3 -ends pp,pp -pc_kcycle_precision single -pc_kcycle_kappa 2 \
      $lines alternating
    works "$claim, lines that were chosen" "lines along x, y" same_history 1e-12 battery $processes stencil -cells 40,37 -stretch 1.3,1.3 -repeat 1
    works "$claim, clusters" "$found" same_history 1e-12 battery $processes stencil -cells 40,37 -random 100 -ends pp,ss -repeat 1
    works "$claim, clusters in three dimensions" "$found" same_history 1e-12 battery $processes stencil -cells 20,20,16 -region mixed:0.1 -contrast 1e4 -repeat 1
    works "$claim, clusters and lines" "$found" same_history 1e-12 battery $processes aijcusparse -cells 40,37 -scheme elements -random 4 $clusters alternating
    works "$claim, clusters and Jacobi" "$found" same_history 1e-12 battery $processes stencil -cells 40,37 -random 4 $clusters jacobi
    works "$claim, clusters, single precision" "$found" same_history 1e-6 battery $processes stencil -cells 40,37 -random 4 -pc_kcycle_precision single $clusters zebra_x
    works "$claim, lines, values that are renewed" "" same_history 1e-12 ex5 $processes aijcusparse $square -mg_levels_pc_relax_type alternating
    works "$claim, clusters, values that are renewed" "$found" same_history 1e-12 ex5 $processes aijcusparse $square -mg_levels_pc_relax_type zebra_x -mg_levels_pc_relax_clusters on
    claim="sweeps on the device as on the host, $processes processes"
    works "$claim, lines" "" same_history 1e-12 ex45 $processes aijcusparse $cube -pc_type relax -pc_relax_type alternating
    works "$claim, lines, sweeps forward and backward, damped" "" same_history 1e-12 ex45 $processes aijcusparse $cube -pc_type relax -pc_relax_type zebra_y \
      -pc_relax_order symmetric -pc_relax_omega 0.9 -ksp_type richardson -ksp_max_it 20
    works "$claim, clusters" "$found" same_history 1e-12 battery $processes aijcusparse -cells 20,18 -random 4 -repeat 1 -pc_type relax -pc_relax_clusters on
  done
}

programs() {
  for program in ex45 ex29 ex25; do
    compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
  done
  compile c "$KC_TUTORIALS/../../../snes/tutorials/ex5.c" "$KC_WORK/ex5" -w > "$log" 2>&1 || not_ok "ex5.c compiles" "with cuda"
  compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
}

begin "lines and clusters on the device"
programs
lines_and_clusters
