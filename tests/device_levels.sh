#!/bin/sh
# Levels on the device as on the host: iterations and residuals are the same for smoothers that relax points, all kinds
# of grids and cycles, on one and several processes.
# Run by: make check SEARCH=device_levels
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# shellcheck disable=SC2086 # words
levels_on_device() {
  claim="vectors of the host, levels on the device"
  check "$claim" "structured levels on the device.*: vectors are copied 2 times a cycle" history 1e-12 \
    "$(want 1.cuda -dm_vec_type standard -dm_mat_type aij $cube -pc_kcycle_place device)" \
    "$(want_host 1 -dm_mat_type aij $cube)"
  for processes in $counts; do
    claim="levels on the device as on the host, $processes processes"
    for kappa in 1 2 w; do double "kappa $kappa" "" stencil $cube -pc_kcycle_kappa $kappa; done
    for type in jacobi chebyshev redblack eightcolor; do
      double "$type" "" aijcusparse $cube -mg_levels_pc_relax_type $type; done
    double "two dimensions, four colours" "" stencil $square -mg_levels_pc_relax_type fourcolor
    double "coefficients that vary" "" stencil -cells 20,18,16 -random 3 -ends pp,ss,nn $points
    double "27 coefficients that vary" "" aijcusparse -cells 20,18,16 -scheme elements -random 3 -ends ss,pp,vv $points
    double "two dimensions, 9 coefficients that vary" "" stencil -cells 40,37 -scheme elements -random 3 -ends pp,ss \
      $points
    double "an odd number of points that wraps around" "" aijcusparse -cells 39,37 -random 3 -ends pp,pp $points
    double "semicoarsening" "" stencil -cells 20,18,16 -random 3 -layers 2:5 -pc_kcycle_semicoarsen xy $points
    for d in x z; do double "prisms along $d" "" stencil -cells 20,18,16 -random 3 -pc_kcycle_semicoarsen $d \
      $points; done
    single "single precision, coefficients that vary" "" stencil -cells 39,37 -random 3 -ends pp,pp \
      -pc_kcycle_precision single -pc_kcycle_kappa 2 $points
    double "27 points" "" stencil $cube -pc_kcycle_interpolation operator
    double "an even number of points, a singular operator" "" aijcusparse -cells 16,14,12 -ends nn,nn,nn
    double "one dimension" "" stencil -cells 129 -ends ss -mg_levels_pc_relax_type chebyshev
    for kappa in 1 2 w; do
      double "coarse ones on the host, kappa $kappa" \
        "and coarser ones, one vector goes there and back a visit; level 1: it has fewer unknowns" stencil $cube \
        -pc_kcycle_host_below 300 -pc_kcycle_kappa $kappa; done
    double "the fastest part of them on the host" \
      "pc_kcycle_host_below auto: [2-9] ways tried, [0-9.e-]* s a cycle; [0-9.e-]* s with all levels on the device" \
      stencil $cube -pc_kcycle_host_below auto -pc_kcycle_kappa 2
    double "coarse ones on the host, full multigrid" "and coarser ones" stencil $cube -pc_kcycle_host_below 1000 \
      -pc_mg_type full
    double "coarse ones on the host, Richardson" "and coarser ones" stencil $cube -pc_kcycle_host_below 1000 \
      -ksp_type richardson
    single "coarse ones on the host, single precision" "and coarser ones" stencil $cube -pc_kcycle_host_below 1000 \
      -pc_kcycle_precision single -pc_kcycle_kappa 2
    double "coarse ones on the host, as a smoother is" "level 1: its planes are relaxed on the host" stencil $cube \
      -mg_levels_1_pc_relax_type planes -mg_levels_1_planes_pc_kcycle_place host
    double "each kernel launched" "launched kernel by kernel: " stencil $cube -pc_kcycle_kappa 2 -pc_kcycle_graph off
    double "full multigrid" "" stencil $cube -pc_mg_type full
    double "Richardson" "" stencil $cube -ksp_type richardson
    double "corrections multiplied, Richardson" "to the finest one are multiplied by 1.06" stencil $cube \
      -ksp_type richardson -pc_kcycle_overcorrect 1.06
    single "single precision" "" stencil $cube -pc_kcycle_precision single
    single "single precision, Chebyshev, F-cycles" "" aijcusparse $cube -pc_kcycle_precision single \
      -mg_levels_pc_relax_type chebyshev -pc_kcycle_kappa 2
    for type in jacobi chebyshev redblack; do same "sweeps on the device as on the host, $processes processes, $type" \
      "" 1e-12 $processes aijcusparse $cube -pc_type relax -pc_relax_type $type; done
    double "halos through the host" "" aijcusparse -cells 39,37 -random 3 -ends pp,pp $points -use_gpu_aware_mpi 0
    single "halos through the host, single precision" "" stencil $cube -pc_kcycle_precision single -use_gpu_aware_mpi 0
    single "Richardson in single precision" "" stencil $cube -pc_kcycle_precision single -ksp_type richardson
  done
}

# A sweep from zero reads two numbers a point, right side and diagonal, and some for each line; coefficients are stored
# for each point, as they vary
reads_little() { # options...
  rm -f "$KC_WORK/traffic"
  CUDAHOST_TRAFFIC=$KC_WORK/traffic mpi 1 "$KC_WORK/battery" -dll_append "$plugin" -repeat 1 -cells 32,32,32 -random 3 \
    -dm_mat_type stencil -dm_vec_type cuda -ksp_type richardson -ksp_max_it 1 -ksp_norm_type none -pc_type relax \
    "$@" || return 1
  awk '$10 >= 8 * 32 ^ 3 {
    print $9 / 8 / 32 ^ 3 " numbers a point are read, " $10 / 8 / 32 ^ 3 " are written"; exit $9 > 2.5 * 8 * 32 ^ 3
  }' "$KC_WORK/traffic"
}

begin "levels on the device as on the host"
levels_on_device
finish
if [ "$plugin" != "$KC_LIBRARY" ]; then
  for scheme in cells elements; do
    for type in jacobi redblack eightcolor; do
      [ $scheme$type = elementsredblack ] ||
        works "a sweep from zero reads right side and diagonal, $scheme, $type" "numbers a point" reads_little \
          -scheme $scheme -pc_relax_type $type
    done
  done
fi
