#!/bin/sh
# MATSTENCIL from aijcusparse whose values are on the device: a kernel takes them, and they do not come to the host.
# Coefficients, what is stored and products are those of the host's conversion, digit by digit, when values are renewed,
# too; an entry without a place in the stencil is refused as on the host.
# Run by: make check SEARCH=device_convert
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

convert() { # processes options...
  processes=$1
  shift
  CUDAHOST_REPORT=1 mpi "$processes" "$KC_WORK/convert" -dll_append "$plugin" -malloc_dump "$@"
}

converts() {
  convert "$@" -compare > "$KC_WORK/same" 2>&1 || { cat "$KC_WORK/same"; return 1; }
  cat "$KC_WORK/same"
  [ "$(grep -c 'coefficients equal, products equal, stored equal' "$KC_WORK/same")" = 3 ] &&
    [ "$(grep -c 'product after that equal' "$KC_WORK/same")" = 3 ]
}

# Three conversions copy this number of bytes to the host on all processes, and the coefficients are on the device alone
copied() { # bytes processes options...
  bytes=$1
  shift
  convert "$@" -stencil_view ::ascii_info > "$KC_WORK/copied" 2>&1 || { cat "$KC_WORK/copied"; return 1; }
  cat "$KC_WORK/copied"
  grep -q 'coefficients are on the device alone' "$KC_WORK/copied" || return 1
  awk -v bytes="$bytes" \
    '/^cudahost: [0-9]* copies/ { n += $13; reports++ } END { print n " bytes"; exit !reports || n != bytes }' \
    "$KC_WORK/copied"
}

# The preconditioner is made for each step, or kept from the first one
solved() { # processes options...
  convert "$@" -solve -symmetric -ksp_type cg > "$KC_WORK/solved" 2>&1 || { cat "$KC_WORK/solved"; return 1; }
  cat "$KC_WORK/solved"
  [ "$(grep -c 'iterations, solutions equal' "$KC_WORK/solved")" = 3 ]
}

conversions() { # processes
  claim="stencil from aijcusparse, $1 processes"
  works "$claim: three dimensions" "" converts "$1"
  works "$claim: symmetric" "" converts "$1" -symmetric
  works "$claim: all neighbours" "" converts "$1" -box -symmetric
  works "$claim: directions that wrap around" "" converts "$1" -ends 5
  works "$claim: all neighbours, directions that wrap around" "" converts "$1" -box -ends 7
  works "$claim: two dimensions, two points that wrap around" "" converts "$1" -dim 2 -ends 2 -da_grid_y 2 \
    -da_processors_y 1
  works "$claim: one dimension" "" converts "$1" -dim 1
  works "$claim: values come from the host" "" converts "$1" -host
  works "$claim: entries between points that are no neighbours, which are zero" "" converts "$1" -strays 0
  for kept in 0 1; do
    works "$claim: PCKCYCLE, kept: $kept" "" solved "$1" -pc_type kcycle -ksp_reuse_preconditioner $kept \
      -pc_kcycle_matrix_below 0
    works "$claim: PCRELAX, kept: $kept" "" solved "$1" -pc_type relax -ksp_reuse_preconditioner $kept
    works "$claim: PCJACOBI, kept: $kept" "" solved "$1" -pc_type jacobi -ksp_reuse_preconditioner $kept
  done
  works "$claim: PCRELAX that is kept needs no new values on the host" "coefficients are on the device alone" solved \
    "$1" -pc_type relax -ksp_reuse_preconditioner 1 \
    -stencil_view ::ascii_info
  works "$claim: no value is copied to the host" "" copied 0 "$1"
  works "$claim: no value is copied to the host, all neighbours" "" copied 0 "$1" -box -ends 7
  works "$claim: a number is copied for entries that are zero and have no place" "" copied $((3 * 8 * $1)) "$1" \
    -strays 0
  refuses "$claim: an entry between points that are no neighbours" \
    "the entry in row [0-9]*, column [0-9]* couples points that are no neighbours" convert "$1" -strays 1
}

begin "stencil from aijcusparse"
compile c "$KC_TOP/tests/device/convert.c" "$KC_WORK/convert" -w -std=gnu99 "-I$KC_TOP/include" \
  "-I$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")/include" \
  "$host"/libpetsc.so.* "$plugin" "-Wl,-rpath,$host" > "$log" 2>&1 || not_ok "convert.c compiles" "with cuda"
works "stencil from aijcusparse: a star grows to a box, whose values are then taken on the device" "" converts 1 -star \
  -corners 0.5
works "stencil from aijcusparse: a star stays where other entries are zero" "" converts 1 -star -corners 0
works "stencil from aijcusparse: the same without a copy" "" copied 24 1 -star -corners 0
for processes in $counts; do conversions "$processes"; done
