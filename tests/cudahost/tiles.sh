# shellcheck shell=sh
# For tests/device_tiles.sh and tests/device_parts.sh: solves with sweeps in tiles beside those with a launch for each half sweep and those on the host.
# shellcheck disable=SC2034,SC2086,SC2154 # variables are for those scripts, words, and those of solves.sh

solve() { # output program vectors options...
  output=$KC_WORK/$1 program=$2 vectors=$3
  shift 3
  mpi 1 "$KC_WORK/$program" -dll_append "$plugin" -pc_type kcycle -ksp_type cg -ksp_rtol 1e-8 -dm_mat_type stencil -dm_vec_type "$vectors" -ksp_monitor -ksp_converged_reason \
    -ksp_view -malloc_dump $steps "$@" > "$output" 2>&1 || { cat "$output"; return 1; }
}

# So many levels march, and so many have parts; the history is right
tiled() { # marching parted part program options...
  marching=$1 parted=$2 part=$3 program=$4
  shift 4
  solve tiled "$program" cuda -pc_kcycle_tile_above 0 "$@" && solve plain "$program" cuda -pc_kcycle_tile_above 1000000000 "$@" && solve host "$program" standard "$@" || return 1
  for output in tiled plain host; do grep -e 'KSP Residual norm' -e 'solve converged' "$KC_WORK/$output" > "$KC_WORK/$output.history"; done
  grep -e 'points, tiled' -e ' kernels, ' "$KC_WORK/tiled"
  [ "$(grep -c 'points, tiled,' "$KC_WORK/tiled")" = "$marching" ] && [ "$(grep -c 'points, tiled in parts,' "$KC_WORK/tiled")" = "$parted" ] || return 1
  ! grep 'points, tiled' "$KC_WORK/plain" || return 1
  diff "$KC_WORK/tiled.history" "$KC_WORK/plain.history" || return 1
  awk -v part="$part" '
    FNR == 1 { n = 0 }
    / KSP Residual norm / && NR == FNR { there[n++] = $NF }
    / KSP Residual norm / && NR != FNR { d = $NF - there[n]; if ((d < 0 ? -d : d) > part * there[0]) { print "residual " n ": " there[n] " there, " $NF " here"; status = 1 } n++; all++ }
    END { exit status || all < 3 }' "$KC_WORK/tiled.history" "$KC_WORK/host.history"
}

# A device with so many multiprocessors, and kB of shared memory of a block
device() { # processors shared command...
  CUDAHOST_PROCESSORS=$1 CUDAHOST_SHARED=$2
  export CUDAHOST_PROCESSORS CUDAHOST_SHARED
  shift 2
  status=0
  "$@" || status=$?
  unset CUDAHOST_PROCESSORS CUDAHOST_SHARED
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

cube="-da_grid_x 17 -da_grid_y 17 -da_grid_z 17" square="-da_grid_x 65 -da_grid_y 65"
points="-pc_kcycle_anisotropy off -mg_levels_pc_relax_clusters off"

begin_tiles() { # claim
  begin "$1"
  for program in ex29 ex45; do
    compile c "$KC_TUTORIALS/$program.c" "$KC_WORK/$program" -w > "$log" 2>&1 || not_ok "$program.c compiles" "with cuda"
  done
}
