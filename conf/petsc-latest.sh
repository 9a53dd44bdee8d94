#!/bin/sh
# Builds a PETSc release with CUDA (CPU-only where no nvcc is found) once, into a cache folder outside the
# repository, and prints PETSC_DIR=... PETSC_ARCH=... of the result.
#
#   KCYCLE_PETSC_VERSION   release to build      (default 3.26.1)
#   KCYCLE_CUDA_ARCH       compute capability    (default 90)
#   XDG_CACHE_HOME         where caches live     (default ~/.cache)
set -eu

version=${KCYCLE_PETSC_VERSION:-3.26.1}
cuda_arch=${KCYCLE_CUDA_ARCH:-90}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/petsc-kcycle
source_dir=$cache/petsc-$version
nvcc=$(command -v nvcc || true)
if [ -n "$nvcc" ]; then arch=arch-cuda$cuda_arch; else arch=arch-cpu; fi
log=$source_dir/$arch.log

fetch_source() {
  [ -f "$source_dir/include/petscversion.h" ] && return
  mkdir -p "$cache"
  partial=$(mktemp -d "$cache/partial.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  python3 -m pip download -q --no-deps --no-binary :all: -d "$partial" "petsc==$version" >&2
  tar -C "$partial" -xzf "$partial/petsc-$version.tar.gz"
  rm -rf "$source_dir"
  mv "$partial/petsc-$version" "$source_dir"
}

configure_and_build() {
  if [ -n "$nvcc" ]; then
    set -- --with-cuda=1 "--with-cuda-arch=$cuda_arch" CUDAOPTFLAGS=-O3
  else
    echo "petsc-latest: no nvcc on PATH: building PETSc $version without CUDA" >&2
    set -- --with-cuda=0
  fi
  ( cd "$source_dir" && env -u PETSC_DIR -u PETSC_ARCH -u MAKEFLAGS -u MFLAGS -u MAKELEVEL sh -c '
      ./configure PETSC_ARCH="$0" --with-cc=mpicc --with-cxx=mpicxx --with-fc=0 --with-debugging=0 \
        --with-blaslapack-lib=-lopenblas --with-fftw=1 --with-x=0 COPTFLAGS=-O3 CXXOPTFLAGS=-O3 "$@" &&
      make PETSC_DIR="$PWD" PETSC_ARCH="$0" -j"$(nproc)" libs' "$arch" "$@" ) > "$log" 2>&1 || {
    tail -n 30 "$log" >&2
    echo "petsc-latest: building PETSc $version failed; the whole log is $log" >&2
    exit 1
  }
  touch "$source_dir/$arch/built-for-kcycle"
}

fetch_source
if [ ! -f "$source_dir/$arch/built-for-kcycle" ]; then
  echo "petsc-latest: building PETSc $version in $source_dir, once; about 7 minutes on two cores" >&2
  configure_and_build
fi
echo "PETSC_DIR=$source_dir PETSC_ARCH=$arch"
