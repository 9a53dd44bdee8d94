#!/bin/sh
# Red-black sweeps that are fused in tiles on a device (src/kernel/cuda/tilecuda.cu), run on the host by the stand-ins of tests/cudahost: iterations and residuals are, digit by
# digit, those of a launch for each half sweep, and to 1e-12 of the first residual those of the host. Grids are smaller than a tile, larger, and no multiple of one.
# Run by: make check SEARCH=device_tiles
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

solve() { # output program vectors options...
  output=$KC_WORK/$1 program=$2 vectors=$3
  shift 3
  mpi 1 "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type stencil -dm_vec_type "$vectors" -ksp_monitor -ksp_converged_reason \
    -ksp_view -malloc_dump $steps "$@" > "$output" 2>&1 || { cat "$output"; return 1; }
}

# So many levels are tiled, and the history is right
tiled() { # levels part program options...
  levels=$1 part=$2 program=$3
  shift 3
  solve tiled "$program" cuda -pc_kcycle_tile_above 0 "$@" && solve plain "$program" cuda -pc_kcycle_tile_above 1000000000 "$@" && solve host "$program" standard "$@" || return 1
  for output in tiled plain host; do grep -e 'KSP Residual norm' -e 'solve converged' "$KC_WORK/$output" > "$KC_WORK/$output.history"; done
  grep -e 'points, tiled' -e ' kernels, ' "$KC_WORK/tiled"
  [ "$(grep -c 'points, tiled' "$KC_WORK/tiled")" = "$levels" ] && ! grep 'points, tiled' "$KC_WORK/plain" || return 1
  diff "$KC_WORK/tiled.history" "$KC_WORK/plain.history" || return 1
  awk -v part="$part" '
    FNR == 1 { n = 0 }
    / KSP Residual norm / && NR == FNR { there[n++] = $NF }
    / KSP Residual norm / && NR != FNR { d = $NF - there[n]; if ((d < 0 ? -d : d) > part * there[0]) { print "residual " n ": " there[n] " there, " $NF " here"; status = 1 } n++; all++ }
    END { exit status || all < 3 }' "$KC_WORK/tiled.history" "$KC_WORK/host.history"
}

# Another device, with so many kB of shared memory: no half sweep comes from a part that is all rim
small() {
  CUDAHOST_SHARED=$1
  export CUDAHOST_SHARED
  shift
  status=0
  tiled "$@" || status=$?
  unset CUDAHOST_SHARED
  return $status
}

# At most so many kernels in a cycle
few() { # kernels program options...
  most=$1 program=$2
  shift 2
  solve few "$program" cuda -pc_kcycle_tile_above 0 "$@" || return 1
  grep ' kernels, ' "$KC_WORK/few"
  awk -v most="$most" '/ with kappa [0-9w]*: / { if ($(NF - 3) > most) status = 1; seen++ } END { exit status || seen != 1 }' "$KC_WORK/few"
}

# shellcheck disable=SC2086 # words
sizes() {
  cube="-da_grid_x 17 -da_grid_y 17 -da_grid_z 17" square="-da_grid_x 65 -da_grid_y 65"
  points="-pc_kcycle_anisotropy off -mg_levels_pc_relax_clusters off"
  claim="tiles as half sweeps by themselves"
  for kappa in 1 2 w; do
    works "$claim, 2D, kappa $kappa" "" tiled 5 1e-12 ex29 $square -pc_kcycle_kappa $kappa
    works "$claim, 3D, kappa $kappa" "" tiled 3 1e-12 ex45 $cube -pc_kcycle_kappa $kappa
  done
  works "$claim, 2D, full multigrid" "" tiled 5 1e-12 ex29 $square -pc_mg_type full
  works "$claim, 3D, full multigrid" "" tiled 3 1e-12 ex45 $cube -pc_mg_type full
  works "$claim, 2D, several tiles along x, kappa 2" "" tiled 8 1e-12 ex29 -da_grid_x 517 -da_grid_y 37 -pc_kcycle_kappa 2 $points
  works "$claim, 2D, several marches, even sizes" "" tiled 6 1e-12 ex29 -da_grid_x 70 -da_grid_y 140 -pc_kcycle_kappa 2
  works "$claim, 3D, several tiles along x and y, two marches" "" tiled 5 1e-12 ex45 -da_grid_x 67 -da_grid_y 41 -da_grid_z 19 $points -ksp_max_it 2
  works "$claim, 3D, tiles of the smallest size, even sizes, kappa 2" "" small 64 4 1e-12 ex45 -da_grid_x 18 -da_grid_y 36 -da_grid_z 18 -pc_kcycle_kappa 2 $points
  works "$claim, 3D, coarsened in x and z" "" tiled 4 1e-12 ex45 -da_grid_x 20 -da_grid_y 18 -da_grid_z 16 -pc_kcycle_semicoarsen xz -pc_kcycle_kappa 2 $points
  works "$claim, symmetric sweeps" "" tiled 5 1e-12 ex29 $square -mg_levels_pc_relax_order symmetric -mg_levels_ksp_max_it 1
  works "$claim, backward ones, three of them" "" tiled 3 1e-12 ex45 $cube -mg_levels_pc_relax_order backward -mg_levels_ksp_max_it 3 -pc_kcycle_kappa 2
  works "$claim, over-relaxation" "" tiled 3 1e-12 ex45 $cube -mg_levels_pc_relax_omega 1.1
  works "$claim, Richardson, which tests the residual of the finest level" "" tiled 3 1e-12 ex45 $cube -ksp_type richardson
  works "$claim, other sweeps up than down" "" tiled 3 1e-12 ex45 $cube -pc_mg_distinct_smoothup -mg_levels_ksp_max_it 3 -mg_levels_up_ksp_max_it 1 -pc_kcycle_kappa 2
  works "$claim, 2D, single precision" "" tiled 5 1e-6 ex29 $square -pc_kcycle_precision single
  works "$claim, 3D, single precision, kappa 2" "" tiled 3 1e-6 ex45 $cube -pc_kcycle_precision single -pc_kcycle_kappa 2
  works "$claim, each kernel launched" "" tiled 3 1e-12 ex45 $cube -pc_kcycle_graph off -pc_kcycle_kappa 2
  works "a level with two sweeps has two kernels" "" few 7 ex45 $cube -mg_levels_ksp_max_it 2
  works "not tiled: other smoothers" "" tiled 0 1e-12 ex45 $cube -mg_levels_pc_relax_type eightcolor
  works "not tiled: small levels" "" solve small ex29 cuda -da_grid_x 513 -da_grid_y 513 -ksp_max_it 1 $points
  works "but large ones, $(awk '/INT\(KCYCLE_TILED,/ { sub(/,$/, "", $2); print $2 }' "$KC_TOP/include/petsckcycle/private/policyimpl.h") unknowns" "^1\$" \
    grep -c 'points, tiled' "$KC_WORK/small"
}

begin "tiles as half sweeps by themselves"
for program in ex29 ex45; do
  compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
done
sizes
