#!/bin/sh
# Installs what a PETSc needs, builds it once, into a cache folder outside the repository, and prints PETSC_DIR=...
# PETSC_ARCH=... of the result.
#
#   petsc-build.sh latest            the newest release with CUDA (CPU-only where no nvcc is found)
#   petsc-build.sh device            the newest release with CUDA and without MPI, for a machine with a GPU and little
#                                    else
#   petsc-build.sh headers VERSION   any release, configured without CUDA and not built: what compiling against it takes
#   petsc-build.sh kokkos            3.18.5 with the Kokkos of Debian's Trilinos, 3.4, which that release works with but
#                                    for the name of a function
#
#   KCYCLE_PETSC_VERSION   newest release        (default 3.26.1)
#   KCYCLE_CUDA_ARCH       compute capability    (default 90)
#   KCYCLE_CACHED=1        fetches and builds nothing
#   XDG_CACHE_HOME         where caches are      (default ~/.cache)
#
# Exit status 3: there is none in the cache, and its source cannot be fetched, or nothing is to be built.
set -eu

complain() { echo "petsc-build: $*" >&2; exit 1; }

kind=${1:-}
cuda_arch=${KCYCLE_CUDA_ARCH:-90}
nvcc=$(command -v nvcc || true)
case $kind in
  latest)
    version=${KCYCLE_PETSC_VERSION:-3.26.1}
    arch=$(if [ -n "$nvcc" ]; then echo "arch-cuda$cuda_arch"; else echo arch-cpu; fi) ;;
  device) version=${KCYCLE_PETSC_VERSION:-3.26.1} arch=arch-device$cuda_arch
          [ -n "$nvcc" ] || complain "no nvcc on PATH, and without it there is nothing for a GPU" ;;
  kokkos) version=3.18.5 arch=arch-kokkos ;;
  headers) version=${2:?which release?} arch=arch-headers ;;
  *)      echo "usage: $0 latest|device|kokkos|headers VERSION" >&2; exit 2 ;;
esac
cache=${XDG_CACHE_HOME:-$HOME/.cache}/petsc-kcycle
source_dir=$cache/petsc-$version
log=$source_dir/$arch.log

fetch_source() {
  [ -f "$source_dir/include/petscversion.h" ] && return
  mkdir -p "$cache"
  partial=$(mktemp -d "$cache/partial.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  python3 -m pip download -q --no-deps --no-binary petsc -d "$partial" "petsc==$version" >&2 ||
    { echo "petsc-build: PETSc $version cannot be fetched" >&2; exit 3; }
  tar -C "$partial" -xzf "$partial/petsc-$version.tar.gz"
  rm -rf "$source_dir"
  mv "$partial/petsc-$version" "$source_dir"
}

# Kokkos before 3.5 has a function in another namespace
prepare_for_kokkos() {
  sed -i "s/'3\.5\.00'/'3.4.00'/" "$source_dir/config/BuildSystem/config/packages/kokkos.py"
  sed -i -e 's/^#if PETSC_PKG_KOKKOS_KERNELS_VERSION_GE(3, 6, 99)/#if 0/' \
    -e 's/using KokkosKernels::sort_crs_matrix;/using KokkosKernels::Impl::sort_crs_matrix;/' \
    "$source_dir/src/mat/impls/aij/seq/kokkos/aijkok.kokkos.cxx"
}

configure_and_build() {
  compilers="--with-cc=mpicc --with-cxx=mpicxx"
  set --
  case $kind$nvcc in
    device*)
      compilers="--with-mpi=0 --with-cc=gcc --with-cxx=g++"
      set -- --with-cuda=1 "--with-cuda-arch=$cuda_arch" CUDAOPTFLAGS=-O3 ;;
    kokkos*)
      prepare_for_kokkos
      set -- --with-kokkos-include=/usr/include/trilinos \
        "--with-kokkos-lib=-ltrilinos_kokkoscontainers -ltrilinos_kokkosalgorithms -ltrilinos_kokkoscore" \
        --with-kokkos-kernels-include=/usr/include/trilinos --with-kokkos-kernels-lib=-ltrilinos_kokkoskernels ;;
    headers*) set -- --with-cuda=0 ;;
    latest)
      echo "petsc-build: no nvcc on PATH: building PETSc $version without CUDA" >&2
      set -- --with-cuda=0 --with-fftw=1 ;;
    *) set -- --with-cuda=1 "--with-cuda-arch=$cuda_arch" CUDAOPTFLAGS=-O3 --with-fftw=1 ;;
  esac
  ( cd "$source_dir" && env -u PETSC_DIR -u PETSC_ARCH -u MAKEFLAGS -u MFLAGS -u MAKELEVEL sh -c '
      compilers=$1; shift
      ./configure PETSC_ARCH="$0" $compilers --with-fc=0 --with-debugging=0 \
        --with-hipc=0 --with-syclc=0 --with-blaslapack-lib=-lopenblas --with-x=0 COPTFLAGS=-O3 CXXOPTFLAGS=-O3 "$@" &&
      case $0 in *headers) ;; *) make PETSC_DIR="$PWD" PETSC_ARCH="$0" -j"$(nproc)" libs ;; esac' \
      "$arch" "$compilers" "$@" ) > "$log" 2>&1 || {
    tail -n 30 "$log" >&2
    complain "building PETSc $version failed; the whole log is $log"
  }
  touch "$source_dir/$arch/built-for-kcycle"
}

if [ -n "${KCYCLE_CACHED:-}" ] && [ ! -f "$source_dir/$arch/built-for-kcycle" ]; then exit 3; fi
sh "$(dirname "$0")/install-deps.sh" "$(echo "$kind" | sed 's/^device$/latest/')" >&2
fetch_source
if [ ! -f "$source_dir/$arch/built-for-kcycle" ]; then
  long=$(if [ "$kind" = headers ]; then echo 1 minute; else echo 7 minutes on two cores; fi)
  echo "petsc-build: building PETSc $version in $source_dir, once; about $long" >&2
  configure_and_build
fi
echo "PETSC_DIR=$source_dir PETSC_ARCH=$arch"
