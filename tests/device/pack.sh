#!/bin/sh
# pack.sh: everything that run.sh needs on a machine with a GPU, its driver and CUDA's libraries, and nothing else: no MPI, no compiler, no network.
# Makes build/device-pack.tar.gz, to be unpacked there: a PETSc without MPI (built once, in a cache folder), the library, programs, tests, benches.
#
#   KCYCLE_CUDA_ARCH=80   for an A100; 90, the default, for an H100
#   KCYCLE_PETSC="PETSC_DIR=... PETSC_ARCH=..."   another PETSc with CUDA, whose MPI has to be there, too
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
pack=$top/build/device-pack
most=60000000 # bytes

complain() { echo "pack: $*" >&2; exit 1; }

where=${KCYCLE_PETSC:-$(sh "$top/conf/petsc-build.sh" device)}
# Without MPI calls of it are macros, and gcc cannot see that they set what they are to set
# shellcheck disable=SC2086 # words
make -s --no-print-directory -C "$top" -j"$(nproc)" all $where "WARNFLAGS=-Wall -Wextra -Werror -Wno-maybe-uninitialized" || complain "the library does not build"
# shellcheck disable=SC2086
eval "$(make -s --no-print-directory -C "$top" print-petsc $where | sed -n "s/^\([a-z_]*\)=\(.*\)$/\1='\2'/p")"
[ -n "$(find "$build/src/kernel/cuda" -name '*.o' 2> /dev/null)" ] || complain "the library was built without kernels for devices"
pc=$libdir/pkgconfig/PETSc.pc
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")

# shellcheck disable=SC2046 # words
program() { # source flags...
  source=$1
  shift
  $(pkg-config --variable=ccompiler "$pc") -w -O2 -std=gnu99 -I"$top/include" $(pkg-config --cflags "$pc") -o "$pack/bin/$(basename "$source" .c)" "$source" "$@" $(pkg-config --libs "$pc") -lm
}

programs() {
  for name in ex45 ex29 ex34 ex25; do
    cp "$tutorials/$name.c" "$pack/tutorials/"
    program "$tutorials/$name.c"
  done
  program "$tutorials/../../../snes/tutorials/ex5.c"
  program "$top/examples/tutorials/heat.c" "$library"
  for name in incpoisson deflsub dpcg; do program "$top/tests/$name.c" "$library"; done
  program "$top/bench/battery.c"
  program "$top/bench/device.c" -I"$cuda/include" -L"$cuda/lib64" -lcufft
}

# All that is linked but for the C library and CUDA
libraries() {
  cp "$library" "$pack/lib/"
  ldd "$library" "$pack"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r file; do
    case $(basename "$file") in
      libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libpetsckcycle.so) ;;
      libcu* | libnv*) basename "$file" >> "$pack/cuda-libraries" ;;
      libstdc++* | libgcc_s*) cp -L "$file" "$pack/lib/spare/" ;; # where the machine has none
      *) cp -L "$file" "$pack/lib/" ;;
    esac
  done
  strip --strip-unneeded "$pack"/lib/*.so* "$pack"/bin/*
}

others() {
  cp "$top/tests/device/run.sh" "$top/tests/device/bench.sh" "$pack/"
  cp "$top/conf/tap.sh" "$pack/conf/"
  cp "$top"/tests/device.sh "$top"/tests/device_block.sh "$top"/tests/device_levels.sh "$top"/tests/device_lines.sh "$top"/tests/device_matrix.sh "$top"/tests/device_planes.sh "$top"/tests/device_tiles.sh "$pack/tests/"
  cp "$top/tests/cudahost/solves.sh" "$pack/tests/cudahost/"
  cp "$top/include/petsckcycle/private/policyimpl.h" "$pack/include/petsckcycle/private/"
  for name in incpoisson deflsub dpcg; do cp "$top/tests/output/$name"*.out "$pack/tests/output/"; done
  cp "$conf_dir/include/petscconf.h" "$pack/include/" 2> /dev/null || cp "$conf_dir/$conf_arch/include/petscconf.h" "$pack/include/"
  sort -u -o "$pack/cuda-libraries" "$pack/cuda-libraries"
}

rm -rf "$pack"
mkdir -p "$pack/bin" "$pack/lib/spare" "$pack/conf" "$pack/tests/output" "$pack/tests/cudahost" "$pack/tutorials" "$pack/include/petsckcycle/private"
programs
libraries
others
tar -C "$top/build" -czf "$pack.tar.gz" device-pack
bytes=$(wc -c < "$pack.tar.gz")
[ "$bytes" -lt $most ] || complain "$pack.tar.gz has $bytes bytes, and $most are the limit of what may travel"
echo "$pack.tar.gz, $bytes bytes: unpack it on the machine with the GPU, and run there: sh device-pack/run.sh"
