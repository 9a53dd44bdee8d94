#!/bin/sh
# What the makefile installs on a machine that has nothing: apt-get and pip are stand-ins that note what they are asked
# for.
# Run by: make check SEARCH=setup
set -u
. "$KC_TOP/conf/tap.sh"

# stand_in NAME: a command that runs the shell text that it is given
stand_in() {
  { echo '#!/bin/sh'; cat; } > "bin/$1"
  chmod +x "bin/$1"
}

mkdir bin cache
stand_in dpkg-query < /dev/null # nothing is installed
stand_in apt-cache < /dev/null
echo 'echo "$@" >> '"$KC_WORK/asked" | stand_in apt-get
echo 'while [ "$1" != apt-get ]; do shift; done; "$@"' | stand_in sudo
echo '[ "$*" != "-u" ] && exec /usr/bin/id "$@"; echo 0' | stand_in id
echo 'exit 1' | stand_in python3 # pip fetches nothing

# bare TARGET: make there, and what apt-get was asked to install
bare() {
  rm -f asked
  status=0
  env "PATH=$KC_WORK/bin:$PATH" "XDG_CACHE_HOME=$KC_WORK/cache" make --no-print-directory -C "$KC_TOP" \
    "$1" 2> "$1.err" || status=$?
  cat "$1.err" asked
  return $status
}

for package in libopenblas-dev libfftw3-mpi-dev python3-pip; do
  refuses "make petsc-latest installs $package" "^.* install .* $package" bare petsc-latest
done
refuses 'make petsc-latest says when PETSc cannot be fetched' '^petsc-build: PETSc [0-9.]* cannot be fetched' bare \
  petsc-latest
refuses 'make petsc-kokkos installs the Kokkos of Trilinos' '^.* install .* libtrilinos-kokkos-kernels-dev' bare \
  petsc-kokkos
works 'what is installed is said on stderr, not among PETSC_DIR= and PETSC_ARCH=' 'installing .*libopenblas-dev' grep \
  'install-deps' petsc-latest.err
[ "$tap_count" -gt 0 ]
