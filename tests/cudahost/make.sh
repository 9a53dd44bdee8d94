#!/bin/sh
# make.sh PETSC_DIR PETSC_ARCH FOLDER: makes FOLDER/libpetsc.so.*, the PETSc that was built there with CUDA. Its
# vectors, AIJ and dense matrices of CUDA types are compiled for the host, on stand-ins for the CUDA libraries
# (runtime.cpp, launcher.cpp). So what these types do can be tested without a GPU, not how fast. Device memory is
# separate, and new memory is full of NaN, so that values that are not copied are missed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
petsc=$1 arch=$2 out=$3
objects=$petsc/$arch/obj
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")")

complain() { echo "cudahost: $*" >&2; exit 1; }

[ -d "$objects" ] || complain "$petsc/$arch has no object files: PETSc must have been built there"
mkdir -p "$out/src" "$out/include/thrust/mr"

# PETSc may have been built without MPI
linker=$(sed -n 's/^PCC = //p' "$petsc/$arch/lib/petsc/conf/petscvariables")
case $linker in *mpi*) mpi=$(mpicxx --showme:compile) ;; *) mpi=-I$petsc/include/petsc/mpiuni ;; esac

# Memory of thrust::device_vector is the device's
sed -e 's/^\( *\)return ::operator new(bytes, .*/\1void *p; return cudaMalloc(\&p, bytes), p;/' \
  -e 's/^\( *\)::operator delete(p, .*/\1cudaFree(p);/' \
  "$cuda/include/cccl/thrust/mr/new.h" > "$out/include/thrust/mr/new.h"

compile() { # source object flags...
  source=$1 object=$2
  shift 2
  # shellcheck disable=SC2086 # words
  g++ -std=c++17 -O1 -fPIC -w -include "$here/kernels.h" -DTHRUST_DEVICE_SYSTEM=4 -DPETSC_USING_NVCC=1 "$@" \
    -I"$out/include" -I"$cuda/include/cccl" -I"$cuda/include" \
    -I"$petsc/include" -I"$petsc/$arch/include" $mpi -x c++ -c "$source" -o "$object"
}

# The kernels that are launched in CUDA's own syntax are called
translate() {
  call='HostKernel(dim3(\2), dim3(\3), [\&] { \1(\4); });'
  sed "s/\([A-Za-z]*\)<<<\(.*\), \([0-9]*\), 0, [A-Za-z]*>>>(\(.*\));/$call/" "$1"
}

one() { # a file of PETSc below src, without its suffix
  mkdir -p "$out/src/$(dirname "$1")"
  translate "$petsc/src/$1.cu" > "$out/src/$1.cu"
  compile "$out/src/$1.cu" "$out/src/$1.o" -I"$petsc/src/$(dirname "$1")" ||
    complain "$1.cu does not compile for the host"
}

files="vec/vec/impls/seq/cupm/cuda/vecseqcupm vec/vec/impls/mpi/cupm/cuda/vecmpicupm
  vec/is/sf/impls/basic/cupm/cuda/sfcupm
  mat/impls/dense/seq/cupm/cuda/matseqdensecuda mat/impls/dense/mpi/cupm/cuda/matmpidensecuda
  mat/impls/diagonal/cupm/cuda/matdiagonalcuda
  mat/impls/aij/seq/seqcusparse/aijcusparse mat/impls/aij/mpi/mpicusparse/mpiaijcusparse"
compile "$here/runtime.cpp" "$out/runtime.o"
compile "$here/launcher.cpp" "$out/launcher.o" -U_FORTIFY_SOURCE -O2 # which has objections to jumps between stacks
compile "$here/graphs.cpp" "$out/graphs.o"
fftw=
if pkg-config --exists fftw3 2> /dev/null; then
  compile "$here/fft.cpp" "$out/fft.o"
  fftw="$out/fft.o $(pkg-config --libs fftw3)"
fi
pids=
finish() { for pid in $pids; do wait "$pid" || exit 1; done; }
for file in $files; do
  case $pids in *' '*' '*) finish; pids= ;; esac # two at a time: each takes up to a gigabyte
  one "$file" &
  pids="$pids $!"
done
finish

find "$objects" -name '*.o' | while read -r object; do
  name=${object#"$objects/src/"}
  if [ -f "$out/src/$name" ]; then echo "$out/src/$name"; else echo "$object"; fi
done > "$out/objects"
libraries=$(sed -n 's/^PETSC_EXTERNAL_LIB_BASIC = //p' "$petsc/$arch/lib/petsc/conf/petscvariables")
soname=$(readelf -d "$petsc/$arch/lib/libpetsc.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
# shellcheck disable=SC2086 # words
$linker -shared -Wl,-soname,"$soname" -o "$out/$soname.part" "@$out/objects" "$out/runtime.o" "$out/launcher.o" \
  "$out/graphs.o" $fftw $libraries -ldl
mv "$out/$soname.part" "$out/$soname"
