#!/bin/sh
# library.sh PETSC_DIR PETSC_ARCH BUILD FOLDER: makes FOLDER/libpetsckcycle.so for the stand-in of make.sh that is in
# the same folder. Its objects are those of the library in BUILD, but kernels for devices are compiled for the host.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
petsc=$1 arch=$2 build=$3 out=$4

variable() { sed -n "s/^$1 = //p" "$petsc/$arch/lib/petsc/conf/petscvariables"; }

linker=$(variable PCC)
case $linker in *mpi*) mpi=$(mpicxx --showme:compile) ;; *) mpi=-I$petsc/include/petsc/mpiuni ;; esac

compile() { # source object flags...
  # shellcheck disable=SC2086 # words
  sh "$here/kernel.sh" "$@" -DKCYCLE_HAVE_CUDA -I"$top/include" -I"$out/include" -I"$petsc/include" \
    -I"$petsc/$arch/include" $mpi
}

mkdir -p "$out/kernels"
for source in "$top"/src/kernel/cuda/*.cu; do
  compile "$source" "$out/kernels/$(basename "$source" .cu).o" &
  double=$!
  compile "$source" "$out/kernels/single_$(basename "$source" .cu).o" -DKCYCLE_SINGLE
  wait "$double"
done
find "$build/single" -name '*.o' ! -path '*/kernel/cuda/*' \
  -exec sh "$top/conf/single.sh" "$out/single.o" "$out"/kernels/single_*.o {} +
find "$build/src" -name '*.o' ! -path '*/kernel/cuda/*' > "$out/library"
ls "$out"/kernels/*.o | grep -v /single_ >> "$out/library"
echo "$out/single.o" >> "$out/library"
fftw=$(pkg-config --libs fftw3 2> /dev/null || true) # which the library may have been built with
# shellcheck disable=SC2046,SC2086 # words
$linker -shared -Wl,-soname,libpetsckcycle.so -Wl,-z,nodelete -Wl,-z,now -Wl,--no-undefined \
  -o "$out/libpetsckcycle.part" "@$out/library" "$out"/libpetsc.so.* $(variable BLASLAPACK_LIB) $fftw -lstdc++ -lm
mv "$out/libpetsckcycle.part" "$out/libpetsckcycle.so"
