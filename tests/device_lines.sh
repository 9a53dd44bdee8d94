#!/bin/sh
# Smoothers that relax lines, and corrections of clusters, on the device as on the host: iterations and residuals are
# the same, on one and several processes.
# Run by: make check SEARCH=device_lines
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Smoothers that relax lines, also where processes have parts of these or they wrap around, and corrections of clusters
# shellcheck disable=SC2086 # words
lines_and_clusters() {
  type=-mg_levels_pc_relax_type
  lines="-mg_levels_pc_relax_clusters off $type" clusters="-mg_levels_pc_relax_clusters on $type"
  found="[1-9][0-9]* clusters of strongly coupled points"
  for processes in $counts; do
    claim="levels on the device as on the host, $processes processes"
    split="-da_processors_x $processes -da_processors_y 1 -da_processors_z 1"
    for d in x y z; do double "lines along $d" "" stencil $cube $type zebra_$d; done
    for kappa in 2 w; do double "lines along all directions, kappa $kappa" "" stencil $cube $type alternating \
      -pc_kcycle_kappa $kappa; done
    [ $processes = 1 ] || double "lines along x that are cut" "lines along x" aijcusparse $cube $split $type zebra_x
    double "lines of 27 points" "lines along z, x" stencil $cube $split $type alternating \
      -mg_levels_pc_relax_directions zx -pc_kcycle_interpolation operator
    for d in x y z; do
      double "lines along $d, coefficients that vary" "" stencil -cells 20,18,16 -random 3 -ends pp,ss,nn \
        $lines zebra_$d
      double "lines along $d, 27 coefficients that vary" "" aijcusparse -cells 10,18,16 -scheme elements -random 3 \
        -ends ss,pp,pp $lines zebra_$d
    done
    for d in x y; do
      double "two dimensions, lines along $d" "" stencil $square $type zebra_$d
      double "two dimensions, lines along $d, 9 coefficients that vary" "" stencil -cells 40,37 -scheme elements \
        -random 3 -ends pp,ss $lines zebra_$d
      double "lines along $d, an odd number of points that wraps around" "" aijcusparse -cells 39,37 -random 3 \
        -ends pp,pp $lines zebra_$d
    done
    double "lines, damped sweeps" "omega 0.8" stencil -cells 39,37 -random 3 $lines alternating \
      -mg_levels_pc_relax_omega 0.8 -mg_levels_ksp_max_it 2
    double "lines, prisms" "" stencil -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen z $lines zebra_x
    double "one line, damped" "" stencil -cells 129 -ends ss $type zebra_x -mg_levels_pc_relax_omega 0.7
    single "lines, single precision" "" stencil -cells 39,37 -random 3 -ends pp,pp -pc_kcycle_precision single \
      -pc_kcycle_kappa 2 $lines alternating
    double "lines that were chosen" "lines along x, y" stencil -cells 40,37 -stretch 1.3,1.3
    double "clusters" "$found" stencil -cells 40,37 -random 100 -ends pp,ss
    double "clusters in three dimensions" "$found" stencil -cells 20,20,16 -region mixed:0.1 -contrast 1e4
    double "clusters and lines" "$found" aijcusparse -cells 40,37 -scheme elements -random 4 $clusters alternating
    double "clusters and Jacobi" "$found" stencil -cells 40,37 -random 4 $clusters jacobi
    single "clusters, single precision" "$found" stencil -cells 40,37 -random 4 -pc_kcycle_precision single \
      $clusters zebra_x
    double "lines, values that are renewed" "" aijcusparse $square $type alternating -renew 2
    double "clusters, values that are renewed" "$found" aijcusparse $square $type zebra_x \
      -mg_levels_pc_relax_clusters on -renew 2
    claim="sweeps on the device as on the host, $processes processes"
    double "lines" "" aijcusparse $cube -pc_type relax -pc_relax_type alternating
    double "lines, sweeps forward and backward, damped" "" aijcusparse $cube -pc_type relax -pc_relax_type zebra_y \
      -pc_relax_order symmetric -pc_relax_omega 0.9 -ksp_type richardson -ksp_max_it 20
    double "clusters" "$found" aijcusparse -cells 20,18 -random 4 -pc_type relax -pc_relax_clusters on
  done
}

begin "lines and clusters on the device"
lines_and_clusters
finish
