#!/bin/sh
# Smoothers that relax lines, and corrections of clusters, on the device as on the host: iterations and residuals are
# the same, on one and several processes.
# Run by: make check SEARCH=device_lines
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 1 2 4)}

# Smoothers that relax lines, also where processes have parts of these or they wrap around, and corrections of clusters
# shellcheck disable=SC2086 # words
lines_and_clusters() {
  lines="-mg_levels_pc_relax_clusters off -mg_levels_pc_relax_type" \
    clusters="-mg_levels_pc_relax_clusters on -mg_levels_pc_relax_type"
  found="[1-9][0-9]* clusters of strongly coupled points"
  for processes in $counts; do
    claim="levels on the device as on the host, $processes processes"
    split="-da_processors_x $processes -da_processors_y 1 -da_processors_z 1"
    for d in x y z; do same "$claim, lines along $d" "" 1e-12 $processes stencil $cube \
      -mg_levels_pc_relax_type zebra_$d; done
    for kappa in 2 w; do same "$claim, lines along all directions, kappa $kappa" "" 1e-12 $processes stencil $cube \
      -mg_levels_pc_relax_type alternating -pc_kcycle_kappa $kappa; done
    [ $processes = 1 ] || same "$claim, lines along x that are cut" "lines along x" 1e-12 $processes aijcusparse $cube \
      $split -mg_levels_pc_relax_type zebra_x
    same "$claim, lines of 27 points" "lines along z, x" 1e-12 $processes stencil $cube $split \
      -mg_levels_pc_relax_type alternating -mg_levels_pc_relax_directions zx -pc_kcycle_interpolation operator
    for d in x y z; do
      same "$claim, lines along $d, coefficients that vary" "" 1e-12 $processes stencil -cells 20,18,16 -random 3 \
        -ends pp,ss,nn $lines zebra_$d
      same "$claim, lines along $d, 27 coefficients that vary" "" 1e-12 $processes aijcusparse -cells 10,18,16 \
        -scheme elements -random 3 -ends ss,pp,pp $lines zebra_$d
    done
    for d in x y; do
      same "$claim, two dimensions, lines along $d" "" 1e-12 $processes stencil $square \
        -mg_levels_pc_relax_type zebra_$d
      same "$claim, two dimensions, lines along $d, 9 coefficients that vary" "" 1e-12 $processes stencil -cells 40,37 \
        -scheme elements -random 3 -ends pp,ss $lines zebra_$d
      same "$claim, lines along $d, an odd number of points that wraps around" "" 1e-12 $processes aijcusparse \
        -cells 39,37 -random 3 -ends pp,pp $lines zebra_$d
    done
    same "$claim, lines, damped sweeps" "omega 0.8" 1e-12 $processes stencil -cells 39,37 -random 3 $lines alternating \
      -mg_levels_pc_relax_omega 0.8 -mg_levels_ksp_max_it 2
    same "$claim, lines, prisms" "" 1e-12 $processes stencil -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen z \
      $lines zebra_x
    same "$claim, one line, damped" "" 1e-12 $processes stencil -cells 129 -ends ss -mg_levels_pc_relax_type zebra_x \
      -mg_levels_pc_relax_omega 0.7
    same "$claim, lines, single precision" "" 1e-6 $processes stencil -cells 39,37 -random 3 -ends pp,pp \
      -pc_kcycle_precision single -pc_kcycle_kappa 2 $lines alternating
    same "$claim, lines that were chosen" "lines along x, y" 1e-12 $processes stencil -cells 40,37 -stretch 1.3,1.3
    same "$claim, clusters" "$found" 1e-12 $processes stencil -cells 40,37 -random 100 -ends pp,ss
    same "$claim, clusters in three dimensions" "$found" 1e-12 $processes stencil -cells 20,20,16 -region mixed:0.1 \
      -contrast 1e4
    same "$claim, clusters and lines" "$found" 1e-12 $processes aijcusparse -cells 40,37 -scheme elements -random 4 \
      $clusters alternating
    same "$claim, clusters and Jacobi" "$found" 1e-12 $processes stencil -cells 40,37 -random 4 $clusters jacobi
    same "$claim, clusters, single precision" "$found" 1e-6 $processes stencil -cells 40,37 -random 4 \
      -pc_kcycle_precision single $clusters zebra_x
    same "$claim, lines, values that are renewed" "" 1e-12 $processes aijcusparse $square \
      -mg_levels_pc_relax_type alternating -renew 2
    same "$claim, clusters, values that are renewed" "$found" 1e-12 $processes aijcusparse $square \
      -mg_levels_pc_relax_type zebra_x -mg_levels_pc_relax_clusters on -renew 2
    claim="sweeps on the device as on the host, $processes processes"
    same "$claim, lines" "" 1e-12 $processes aijcusparse $cube -pc_type relax -pc_relax_type alternating
    same "$claim, lines, sweeps forward and backward, damped" "" 1e-12 $processes aijcusparse $cube -pc_type relax \
      -pc_relax_type zebra_y -pc_relax_order symmetric -pc_relax_omega 0.9 -ksp_type richardson -ksp_max_it 20
    same "$claim, clusters" "$found" 1e-12 $processes aijcusparse -cells 20,18 -random 4 -pc_type relax \
      -pc_relax_clusters on
  done
}

begin "lines and clusters on the device"
lines_and_clusters
finish
