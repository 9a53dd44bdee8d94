#!/bin/sh
# Smoothers that relax planes, by cycles in two dimensions, on the device as on the host: iterations and residuals are
# the same, on one and several processes.
# Run by: make check SEARCH=device_planes
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

# Planes on all levels; the cycles of planes have options of their own
# shellcheck disable=SC2086 # words
planes() {
  planes="-mg_levels_pc_relax_type planes" there="^ *[1-9] .* device .*relax" inner=-mg_levels_planes
  for processes in $counts; do
    claim="planes on the device as on the host, $processes processes"
    for kappa in 1 2 w; do double "kappa $kappa" "$there" stencil $cube $planes -pc_kcycle_kappa $kappa; done
    for d in x y z; do double "across $d, coefficients that vary" "$there" stencil -cells 20,18,16 -random 3 \
      -ends pp,ss,nn $planes -mg_levels_pc_relax_directions $d; done
    double "27 coefficients that vary" "$there" aijcusparse -cells 18,16,20 -scheme elements -random 3 -ends ss,pp,pp \
      $planes
    single "single precision" "$there" stencil -cells 20,18,16 -random 3 -pc_kcycle_precision single $planes \
      -pc_kcycle_kappa 2
    double "damped, symmetric" "omega 0.9" stencil $cube $planes -mg_levels_pc_relax_omega 0.9 \
      -mg_levels_pc_relax_order symmetric
    double "on a coarse level, full multigrid" "$there" stencil $cube -pc_mg_type full -mg_levels_1_pc_relax_type planes
    same "$claim, planes that were chosen" "points, planes across xyz" 1e-10 $processes stencil -cells 24,24,24 \
      -stretch 1.5,1.5,1.5 -fine middle
    double "W-cycles of planes" "$there" stencil $cube $planes ${inner}_pc_kcycle_kappa w
    double "planes by one level" "$there" stencil -cells 12,14,16 -random 3 $planes ${inner}_pc_mg_levels 1
    double "cycles that coarsen all directions" "$there" stencil $cube $planes ${inner}_pc_kcycle_anisotropy off
    double "values that are renewed" "$there" aijcusparse -cells 12,14,16 -ends ss,ss,ss $planes -renew 2
    double "halos through the host" "$there" stencil -cells 18,16,20 -random 3 -ends pp,ss,nn $planes \
      -use_gpu_aware_mpi 0
    same "sweeps on the device as on the host, $processes processes, planes" "sweeps on the device" 1e-12 $processes \
      aijcusparse $cube -pc_type relax -pc_relax_type planes -pc_relax_order symmetric
  done
  claim="planes whose cycles cannot be on the device are on the host"
  on_host "$claim: a coarse solver that somebody chose" \
    "level 3: its planes are relaxed on the host: their coarsest problem is solved there" $planes \
    ${inner}_mg_coarse_ksp_type cg ${inner}_mg_coarse_pc_type jacobi
  on_host "$claim: single precision" \
    "level 3: its planes are relaxed on the host: their cycles are in single precision" $planes \
    ${inner}_pc_kcycle_precision single
  on_host "$claim: by choice, on a coarse level" \
    "level 1: its planes are relaxed on the host: their cycles have -pc_kcycle_place host" \
    -mg_levels_1_pc_relax_type planes -mg_levels_1_planes_pc_kcycle_place host
}

# shellcheck disable=SC2086 # words
on_host() { # claim pattern options...
  claim_of=$1 pattern_of=$2
  shift 2
  check "$claim_of" "$pattern_of" alike 1e-12 "$(want 1.cuda -dm_mat_type stencil $cube "$@")" \
    "$(want_host 1 -dm_mat_type stencil $cube "$@")"
}

# More iterations copy nothing
# shellcheck disable=SC2086 # words
nothing() { # options...
  few="-dm_mat_type stencil $steps $cube -mg_levels_pc_relax_type planes -ksp_norm_type none"
  check "iterations copy nothing${*:+, $*}" "" nothing_more "$(want 1.cuda $few -ksp_max_it 2 "$@")" \
    "$(want 1.cuda $few -ksp_max_it 5 "$@")"
}

nothing_more() { # answer answer
  for which; do
    grep -e '^cudahost: ' -e 'Linear solve ' "$(answer "$which")"
    awk '/^cudahost: / { print $2, $9, $11, $13 }' "$(answer "$which")" > "$KC_WORK/copies.$#"
    shift
  done
  [ -s "$KC_WORK/copies.1" ] && cmp "$KC_WORK/copies.1" "$KC_WORK/copies.2"
}

begin "planes on the device as on the host"
planes
if [ -z "${KC_LISTS:-}" ] && [ "$plugin" != "$KC_LIBRARY" ]; then
  nothing
  nothing -pc_kcycle_kappa w
  nothing -pc_kcycle_graph off
fi
finish
