#!/bin/sh
# Smoothers that relax planes, by cycles in two dimensions, on the device as on the host: iterations and residuals are the same, on one and several processes.
# Run by: make check SEARCH=device_planes
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"
counts=${KC_PROCESSES:-$(some_of 1 2 4)}

# Planes on all levels; the cycles of planes have options of their own
# shellcheck disable=SC2086 # words
planes() {
  planes="-repeat 1 -mg_levels_pc_relax_type planes" there="^ *[1-9] .* device .*relax" inner=-mg_levels_planes
  for processes in $counts; do
    claim="planes on the device as on the host, $processes processes"
    for kappa in 1 2 w; do works "$claim, kappa $kappa" "$there" same_history 1e-12 ex45 $processes stencil $cube $planes -pc_kcycle_kappa $kappa; done
    for d in x y z; do works "$claim, across $d, coefficients that vary" "$there" same_history 1e-12 battery $processes stencil -cells 20,18,16 -random 3 -ends pp,ss,nn $planes \
      -mg_levels_pc_relax_directions $d; done
    works "$claim, 27 coefficients that vary" "$there" same_history 1e-12 battery $processes aijcusparse -cells 18,16,20 -scheme elements -random 3 -ends ss,pp,pp $planes
    works "$claim, single precision" "$there" same_history 1e-6 battery $processes stencil -cells 20,18,16 -random 3 -pc_kcycle_precision single $planes -pc_kcycle_kappa 2
    works "$claim, damped, symmetric" "omega 0.9" same_history 1e-12 ex45 $processes stencil $cube $planes -mg_levels_pc_relax_omega 0.9 -mg_levels_pc_relax_order symmetric
    works "$claim, on a coarse level, full multigrid" "$there" same_history 1e-12 ex45 $processes stencil $cube -pc_mg_type full -mg_levels_1_pc_relax_type planes
    works "$claim, planes that were chosen" "points, planes across xyz" same_history 1e-10 battery $processes stencil -repeat 1 -cells 24,24,24 \
      -stretch 1.5,1.5,1.5 -fine middle
    works "$claim, W-cycles of planes" "$there" same_history 1e-12 ex45 $processes stencil $cube $planes ${inner}_pc_kcycle_kappa w
    works "$claim, planes by one level" "$there" same_history 1e-12 battery $processes stencil -cells 12,14,16 -random 3 $planes ${inner}_pc_mg_levels 1
    works "$claim, cycles that coarsen all directions" "$there" same_history 1e-12 ex45 $processes stencil $cube $planes ${inner}_pc_kcycle_anisotropy off
    works "$claim, values that are renewed" "$there" same_history 1e-12 ex14 $processes aijcusparse -da_grid_x 12 -da_grid_y 14 -da_grid_z 16 $planes
    works "$claim, halos through the host" "$there" same_history 1e-12 battery $processes stencil -cells 18,16,20 -random 3 -ends pp,ss,nn $planes -use_gpu_aware_mpi 0
    works "sweeps on the device as on the host, $processes processes, planes" "sweeps on the device" same_history 1e-12 ex45 $processes aijcusparse $cube -pc_type relax \
      -pc_relax_type planes -pc_relax_order symmetric
  done
  claim="planes whose cycles cannot be on the device are on the host"
  works "$claim: a coarse solver that somebody chose" "level 3: its planes are relaxed on the host: their coarsest problem is solved there" \
    on_host $planes ${inner}_mg_coarse_ksp_type cg ${inner}_mg_coarse_pc_type jacobi
  works "$claim: single precision" "level 3: its planes are relaxed on the host: their cycles are in single precision" on_host $planes ${inner}_pc_kcycle_precision single
  works "$claim: by choice, on a coarse level" "level 1: its planes are relaxed on the host: their cycles have -pc_kcycle_place host" on_host -mg_levels_1_pc_relax_type planes \
    -mg_levels_1_planes_pc_kcycle_place host
}

# shellcheck disable=SC2086 # words
on_host() { as_on_host 1 stencil cuda "$@"; }

# More iterations copy nothing
nothing() { # options...
  for its in 2 5; do
    poisson 1 stencil cuda -ksp_norm_type none -ksp_max_it $its "$@" > "$KC_WORK/its$its" 2>&1 || { cat "$KC_WORK/its$its"; return 1; }
  done
  cat "$KC_WORK/its2" "$KC_WORK/its5"
  awk 'BEGIN { n = 0 } /^cudahost/ { to[n] = $2; from[n++] = $9 } /Linear solve / { its[m++] = $NF } END { exit n != 2 || m != 2 || to[0] != to[1] || from[0] != from[1] || its[0] != 2 || its[1] != 5 }' \
    "$KC_WORK/its2" "$KC_WORK/its5"
}

begin "planes on the device as on the host"
compile c "$KC_TUTORIALS/ex45.c" "$KC_WORK/ex45" -w > "$log" 2>&1 || not_ok "ex45.c compiles" "with cuda"
compile c "$KC_TUTORIALS/../../../snes/tutorials/ex14.c" "$KC_WORK/ex14" -w > "$log" 2>&1 || not_ok "ex14.c compiles" "with cuda"
compile c "$KC_TOP/bench/battery.c" "$KC_WORK/battery" -w -std=gnu99 "-I$KC_TOP/include" > "$log" 2>&1 || not_ok "battery.c compiles" "with cuda"
planes
if [ "$plugin" != "$KC_LIBRARY" ]; then
  for options in "-mg_levels_pc_relax_type planes" "-mg_levels_pc_relax_type planes -pc_kcycle_kappa w" "-mg_levels_pc_relax_type planes -pc_kcycle_graph off"; do
    # shellcheck disable=SC2086 # words
    works "iterations copy nothing, $options" "" nothing $options
  done
fi
