#!/bin/sh
# - The arithmetic at a grid point, include/petsckcycle/private/point.h, is one source for host and device: it compiles as device code.
# - PCINCPOISSON, PCDEFLSUB and KSPDPCG do on matrices of device types what they do on AIJ: with Kokkos, on whatever it was built for, and with CUDA, on a GPU or,
#   where there is none, on the stand-ins of tests/cudahost.
# Run by: make check SEARCH=device
set -u
. "$KC_TOP/conf/tap.sh"
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null || true)

cat > "$KC_WORK/point.cu" <<'CUDA'
#include <petsckcycle/private/point.h>

template <int nl, int box> __global__ void Relax(PetscInt n, const PetscScalar *c, const PetscScalar *x, const PetscScalar *b, PetscScalar *y)
{
  const PetscScalar *coefficients[KC_COUNT(nl, box)], *lines[nl];
  const PetscInt     i = 1 + blockIdx.x * blockDim.x + threadIdx.x;

  for (int o = 0; o < KC_COUNT(nl, box); o++) coefficients[o] = c + o * n;
  for (int q = 0; q < nl; q++) lines[q] = x + q * n;
  if (i < n - 1) {
    const PetscScalar s = KCyclePointSum(nl, box, coefficients, lines, i), t = KCyclePointSumConstant(nl, box, c, lines, i);

    y[i]     = KCyclePointFinish(KC_RELAX, s, b[i], lines[nl / 2][i], 1., 1 / coefficients[KC_COUNT(nl, box) / 2][i]);
    y[i + n] = KCyclePointFinish(KC_RESIDUAL, t, b[i], 0., 0., 0.);
  }
}

template __global__ void Relax<1, 0>(PetscInt, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
template __global__ void Relax<3, 0>(PetscInt, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
template __global__ void Relax<5, 0>(PetscInt, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
template __global__ void Relax<3, 1>(PetscInt, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
template __global__ void Relax<9, 1>(PetscInt, const PetscScalar *, const PetscScalar *, const PetscScalar *, PetscScalar *);
CUDA

# MPI's headers, which PETSc's include, come through the compiler wrapper that PETSc uses
flags() {
  pkg-config --cflags-only-I "$(petsc_pc)"
  wrapper=$(pkg-config --variable=ccompiler "$(petsc_pc)")
  ${wrapper:-mpicc} --showme:incdirs 2> /dev/null | tr ' ' '\n' | sed -n 's/./-I&/p'
}

# shellcheck disable=SC2046 # words
device() { "$nvcc" -c -arch=sm_90 -I"$KC_TOP/include" $(flags) "$KC_WORK/point.cu" -o "$KC_WORK/point.o"; }

claim="point.h compiles as device code for every stencil"
if [ -z "$nvcc" ]; then skip "$claim" "no nvcc here"
elif petsc_has PETSC_USE_COMPLEX; then skip "$claim" "complex numbers have no stencils"
else works "$claim" "" device; fi

# As on AIJ: the output of a test program, but for the name of the type. What is left of memory PETSc, or the stand-in, would say there
same() { # processes type output program arguments...
  processes=$1 type=$2 expected=$KC_TOP/tests/output/$3.out
  shift 3
  mpi "$processes" "$@" -type "$type" -malloc_dump > "$KC_WORK/output" 2>&1 || { cat "$KC_WORK/output"; return 1; }
  sed "s/$type/aij/g" "$KC_WORK/output" | diff - "$expected"
}

as_aij() { # type output program arguments...
  for processes in 1 2 4; do works "$2 on $1, $processes processes, is as on aij" "" same "$processes" "$@"; done
}

programs() { # type tests of deflsub.c...
  type=$1
  shift
  for program in incpoisson deflsub dpcg; do
    compile c "$KC_TOP/tests/$program.c" $program -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" > "$log" 2>&1 || not_ok "$program.c compiles" "$type"
  done
  for part in product reuse; do as_aij "$type" "incpoisson_$part" "$KC_WORK/incpoisson" -test $part; done
  for part; do as_aij "$type" "deflsub_$part" "$KC_WORK/deflsub" -test "$part"; done
  works "Z stays on the device where subdomains stay, $type" "Z is kept on the device" mpi 2 "$KC_WORK/deflsub" -test reuse -type "$type" -info
  as_aij "$type" dpcg "$KC_WORK/dpcg" -pc_deflsub_coarse factor -deflation_pc_pc_type jacobi -deflation_pc_type redundant
}

# PETSc on the stand-ins, made again where it is older than what it is made of
host=$KC_BUILD/cudahost
stand_in() {
  made=$(find "$host" -maxdepth 1 -name 'libpetsc.so*' -newer "$KC_LIBDIR/libpetsc.so" 2> /dev/null)
  [ -n "$made" ] && [ -z "$(find "$KC_TOP/tests/cudahost" -newer "$made")" ] && return
  rm -rf "$host"
  sh "$KC_TOP/tests/cudahost/make.sh" "$KC_CONF_DIR" "$KC_CONF_ARCH" "$host"
}

if petsc_has PETSC_HAVE_KOKKOS_KERNELS; then programs aijkokkos labels identities reuse inverse special; fi
claim="aijcusparse is as aij"
if ! petsc_has PETSC_HAVE_CUDA; then skip "$claim" "PETSc has no CUDA"
elif nvidia-smi -L > /dev/null 2>&1; then programs aijcusparse labels identities reuse inverse special
elif [ ! -d "$KC_CONF_DIR/$KC_CONF_ARCH/obj" ]; then skip "$claim" "no GPU here, and PETSc is not where it was built"
else
  works "PETSc's CUDA types compile for the host" "" stand_in
  export LD_LIBRARY_PATH="$host${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  programs aijcusparse labels identities reuse inverse
fi
