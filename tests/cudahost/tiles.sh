# shellcheck shell=sh
# For tests/device_tiles.sh and tests/device_parts.sh: solves with sweeps in tiles, with a launch for each
# half sweep, and on the host.
# shellcheck disable=SC2034,SC2086,SC2154 # variables are for those scripts, words, and those of solves.sh

# On a device with these numbers of multiprocessors and of kB of shared memory of a block, which stand-ins take. By
# default they have 132 and 227, as an H100
on=
device() { # multiprocessors.kB command...
  [ -z "${KC_GPU:-}" ] || return 0
  on=$1
  shift
  "$@"
  on=
}

# Numbers of levels that march, and that have parts; +: one at least
tiles() { # claim marching parted part options...
  claim_of=$1 marching=$2 parted=$3 part=$4
  shift 4
  check "$claim_of" "" tiled "$marching" "$parted" "$part" "$(want "1.cuda${on:+.$on}" -dm_mat_type stencil $steps \
    -pc_kcycle_tile_above 0 "$@")" \
    "$(want 1.cuda -dm_mat_type stencil $steps -pc_kcycle_tile_above never "$@")" \
      "$(want_host 1 -dm_mat_type stencil "$@")"
}

count_is() { # count wanted
  echo "$1 levels, of $2"
  case $2 in +) [ "$1" -gt 0 ] ;; *) [ "$1" = "$2" ] ;; esac
}

# The residuals of the launches for each half sweep, digit by digit, and those of the host
tiled() { # marching parted part answer answer answer
  grep -e 'points, tiled' -e ' kernels, ' "$(answer "$4")"
  count_is "$(grep -c 'points, tiled,' "$(answer "$4")")" "$1" &&
    count_is "$(grep -c 'points, tiled in parts,' "$(answer "$4")")" "$2" || return 1
  ! grep 'points, tiled' "$(answer "$5")" && digits "$4" "$5" && alike "$3" "$4" "$6"
}

count_tiled() { # levels answer
  count_is "$(grep -c 'points, tiled' "$(answer "$2")")" "$1"
}

# The most kernels in a cycle
few() { # claim kernels options...
  claim_of=$1 most=$2
  shift 2
  check "$claim_of" "" at_most "$most" "$(want "1.cuda${on:+.$on}" -dm_mat_type stencil $steps -pc_kcycle_tile_above 0 \
    "$@")"
}

at_most() { # kernels answer
  echo "$(kernels "$2") kernels"
  [ "$(kernels "$2")" -gt 0 ] && [ "$(kernels "$2")" -le "$1" ]
}

square="-cells 65,65 -ends ss,ss"
