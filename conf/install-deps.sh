#!/bin/sh
# Installs what is missing, by the names of Debian's packages. Does nothing, at once, when everything is there.
#
#   conf/install-deps.sh build demo      groups: build demo check lint latest headers kokkos hip
#
# Installing needs root, or sudo without a password; otherwise the command to run is printed and the exit status is 1.
# With PETSC_DIR set, that PETSc and its MPI are used and none of Debian's PETSc packages is asked for.
# Without apt, the exit status is 1 only if something is really missing.
set -eu

usage="usage: $0 build|demo|check|lint|latest|headers|kokkos|hip ..."

have() { command -v "$1" > /dev/null 2>&1; }

complain() { echo "install-deps: $*" >&2; }

# Some names carry PETSc's release, as in libpetsc3.18-dev-examples: the one installed, else the one apt offers
petsc_release() {
  found=$(dpkg-query -W -f '${Version}' petsc-dev 2> /dev/null || true)
  if [ -z "$found" ] && have apt-cache; then
    found=$(apt-cache policy petsc-dev 2> /dev/null | sed -n 's/^ *Candidate: *\([0-9].*\)/\1/p')
  fi
  found=$(echo "$found" | sed -n 's/^\([0-9]*\.[0-9]*\).*/\1/p')
  echo "${found:-3.18}"
}

packages_of() {
  petsc=libpetsc$(petsc_release)
  mpi='libopenmpi-dev openmpi-bin'
  case $1 in
    build)  echo "make gcc pkg-config"
            if have apt-get; then echo libfftw3-dev; fi # elsewhere without it: PCFASTPOISSON is left out
            [ -n "${PETSC_DIR:-}" ] || echo "petsc-dev $mpi" ;;
    demo)   echo "python3 python3-matplotlib"
            [ -n "${PETSC_DIR:-}" ] || echo "$petsc-dev-examples" ;;
    check)  echo "python3 python3-venv cmake valgrind ccache"
            [ -n "${PETSC_DIR:-}" ] || echo "$petsc-dev-examples libpetsc64-real${petsc#libpetsc}-dev" \
              "libpetsc-complex${petsc#libpetsc}-dev libpetsc64-real${petsc#libpetsc}-dbg python3-petsc4py" ;;
    lint)   echo "clang clang-format-14 g++ python3" ;;
    latest) echo "make gcc g++ $mpi libopenblas-dev libfftw3-dev libfftw3-mpi-dev python3 python3-pip" ;;
    headers) echo "make gcc g++ $mpi libopenblas-dev libfftw3-dev python3 python3-pip" ;;
    kokkos)
      echo "make gcc g++ $mpi libopenblas-dev libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev python3 python3-pip"
      ;;
    hip)    echo "gcc hipcc libamdhip64-dev python3" ;;
    *)      complain "$usage"; exit 2 ;;
  esac
}

find_petsc() {
  have pkg-config || return 1
  for module in PETSc petsc; do
    if pkg-config --exists $module; then pkg-config --variable=prefix $module; return 0; fi
  done
  return 1
}

# Is the thing there though no package of that name is installed?
found_otherwise() {
  case $1 in
    make | gcc | g++ | clang | pkg-config | python3 | clang-format-14 | hipcc) have "$1" ;;
    libopenmpi-dev)      have mpicc ;;
    libamdhip64-dev)     have hipcc ;;
    openmpi-bin)         have mpiexec ;;
    petsc-dev)           find_petsc > /dev/null ;;
    libpetsc*-examples)  prefix=$(find_petsc) && [ -d "$prefix/share/petsc/examples/src/ksp/ksp/tutorials" ] ;;
    # Elsewhere the tests that want these are skipped
    valgrind | cmake | ccache | python3-venv | python3-petsc4py | libpetsc*) ! have apt-get ;;
    # With apt, Python's modules are those of the system's python3, which dpkg lists
    python3-pip)         ! have apt-get && python3 -m pip --version > /dev/null 2>&1 ;;
    python3-*)           ! have apt-get && python3 -c "import ${1#python3-}" > /dev/null 2>&1 ;;
    libopenblas-dev)     ! have apt-get && have pkg-config && pkg-config --exists openblas ;;
    libfftw3-dev)        ! have apt-get && have pkg-config && pkg-config --exists fftw3 ;;
    libfftw3-mpi-dev)    ! have apt-get && have mpicc && echo '#include <fftw3-mpi.h>' | mpicc -E - > /dev/null 2>&1 ;;
    *)                   false ;;
  esac
}

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null || true)" = installed ]; }

missing_packages() {
  for group in "$@"; do packages_of "$group"; done | tr ' ' '\n' | sort -u | while read -r package; do
    installed "$package" || found_otherwise "$package" || echo "$package"
  done | tr '\n' ' ' | sed 's/ $//'
}

as_root() {
  if [ "$(id -u)" = 0 ]; then env DEBIAN_FRONTEND=noninteractive "$@"
  else sudo -n env DEBIAN_FRONTEND=noninteractive "$@"; fi
}

may_install() { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2> /dev/null; }; }

# apt-get's own output only matters when it fails
apt() {
  log=$(mktemp)
  status=0
  as_root apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -q "$@" > "$log" 2>&1 || status=$?
  [ $status = 0 ] || tail -n 20 "$log" >&2
  rm -f "$log"
  return $status
}

[ $# -gt 0 ] || { complain "$usage"; exit 2; }
for group in "$@"; do packages_of "$group" > /dev/null; done

missing=$(missing_packages "$@")
[ -n "$missing" ] || exit 0

if ! have apt-get; then
  complain "missing, by the names of Debian's packages: $missing"
  complain "this system has no apt-get: install what corresponds to them, or give PETSC_DIR (and PETSC_ARCH)"
  exit 1
fi
if ! may_install; then
  complain "missing: $missing"
  complain "installing needs root. Run this as root, then try again:"
  echo "    apt-get update && apt-get install -y --no-install-recommends $missing" >&2
  exit 1
fi

apt update || complain "apt-get update failed; trying with the package lists at hand"
missing=$(missing_packages "$@") # with fresh lists the name of PETSc's release is sure
echo "install-deps: installing $missing"
# shellcheck disable=SC2086 # the names are words
apt install -y --no-install-recommends $missing || { complain "apt-get install failed"; exit 1; }
