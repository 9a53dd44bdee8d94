#!/bin/sh
# PCFASTPOISSON on vectors of a device, by cuFFT, cuBLAS and kernels, run on the host by the stand-ins of
# tests/cudahost: all kinds of ends, in one, two and three dimensions, have the solution; with buffers for a few lines,
# too; nothing is copied in a solve; several processes and vectors of both sides are refused.
# Run by: make check SEARCH=device_fastpoisson
set -u
. "$KC_TOP/conf/tap.sh"
. "$KC_TOP/tests/cudahost/solves.sh"

program() {
  stand_ins=
  [ "$plugin" = "$KC_LIBRARY" ] || stand_ins="$host/libpetsc.so.* -Wl,-rpath,$host"
  # shellcheck disable=SC2086 # words
  compile c "$KC_TOP/tests/fastpoisson.c" "$KC_WORK/fastpoisson" -w -std=gnu99 "-I$KC_TOP/include" "-I$KC_TOP/tests" \
    "-I$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")/include" \
    $stand_ins "$plugin" "-Wl,-rpath,$(dirname "$plugin")"
}

solve() { # type options...
  CUDAHOST_REPORT=1 mpi "${processes:-1}" "$KC_WORK/fastpoisson" -dm_vec_type cuda -malloc_dump -type "$@"
}

# Nothing is wrong, nothing is left, and something was done on the device
right() { # type options...
  solve "$@" > "$KC_WORK/right" 2>&1 || { cat "$KC_WORK/right"; return 1; }
  cat "$KC_WORK/right"
  ! grep -q -e '\bNO\b' -e '^cudahost: .* left' -e '^\[ *[0-9]*\] *[0-9]* bytes ' "$KC_WORK/right" &&
    { [ "$plugin" = "$KC_LIBRARY" ] || [ "$(launches)" -gt 20 ]; }
}

launches() { sed -n 's/^cudahost: .* \([0-9]*\) launches;.*/\1/p' "$KC_WORK/right"; }

on_several() { processes=2 solve aijcusparse -cases 1; }

# A buffer has at most a sixteenth of the free memory: the same with more launches
with_little() { # bytes
  right stencil -cases 60 || return 1
  all=$(launches)
  CUDAHOST_MEMORY=$1 right stencil -cases 60 && echo "$all launches otherwise" && [ "$(launches)" -gt "$all" ]
}

with_less() { CUDAHOST_MEMORY=$1 solve aij -cases 60; }

begin "fast Poisson on the device"
if ! nm -D "$plugin" | grep -q cufftMakePlanMany; then
  skip "fast Poisson on the device" "no FFTW or no cuFFT"
  exit
fi
works "fastpoisson.c compiles" "" program
for type in stencil aijcusparse; do works "fast Poisson on the device: all kinds of ends, $type" \
  "^3D, .* below 1e-12: yes" right $type; done
works "fast Poisson on the device: transforms in all directions" "^3D, .* below 1e-12: yes" right stencil \
  -pc_fastpoisson_tridiagonal none
works "fast Poisson on the device: shifts, the nearest operator, new kinds" "" right aijcusparse -test rest
for type in stencil aij; do works "fast Poisson on the device: where vectors are, $type" "copy nothing: yes" right \
  $type -test device; done
refuses "fast Poisson on the device: several processes" "works on a device with one process, and these are 2" on_several
if [ "$plugin" != "$KC_LIBRARY" ]; then
  works "fast Poisson on the device: some lines at a time" "^3D, .* below 1e-12: yes" with_little 1000000
  refuses "fast Poisson on the device: too little memory" "PCFASTPOISSON needs [0-9]* bytes more on the device" \
    with_less 20000
fi
