#!/bin/sh
# What "make install" puts somewhere is enough to build and run programs with.
# Run by: make check SEARCH=install
set -u
. "$KC_TOP/conf/tap.sh"

prefix=$KC_WORK/prefix
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"

make_install() { make -s --no-print-directory -C "$KC_TOP" install "$@"; }

all_there() {
  for file in lib/libpetsckcycle.so include/petsckcycle.h lib/pkgconfig/petsckcycle.pc share/petsckcycle/VERSION.txt; do
    [ -f "$1/$file" ] || { echo "no $file"; return 1; }
  done
  echo "all there"
}

# The compiler and everything else from the pkg-config file
build_embed() { cp -r "$KC_TOP/examples/embed" by-make && make -s -C by-make; }

build_embed_cmake() {
  cp -r "$KC_TOP/examples/embed" by-cmake && cmake -S by-cmake -B by-cmake/build && cmake --build by-cmake/build
}

# found_by PYTHON FOLDER: one of the folders that this Python searches has the module, below FOLDER when that is where
# things were staged
found_by() {
  "$1" -c '
import os, site, sys
module = "/petsc_kcycle/__init__.py"
found = [folder for folder in site.getsitepackages() if os.path.isfile(sys.argv[1] + folder + module)]
print("found in", *found) if found else sys.exit("not found")' "${2:-}"
}

check_python() {
  python=$(find_petsc4py)
  works 'the module, PREFIX=/usr, is where Python searches' '^found in /usr/lib/python' found_by "$KC_PYTHON" \
    "$KC_WORK/stage"
  works 'make install PREFIX=/usr/local' '' make_install DESTDIR="$KC_WORK/stage" PREFIX=/usr/local
  works 'the module, PREFIX=/usr/local, is where Python searches' '^found in /usr/local/lib/python' found_by \
    "$KC_PYTHON" "$KC_WORK/stage"
  works 'PYTHONDIR= is obeyed' '' make_install DESTDIR="$KC_WORK/stage" PREFIX=/usr PYTHONDIR=/modules
  works 'and has the module' '' test -f stage/modules/petsc_kcycle/__init__.py
  "${python:-$KC_PYTHON}" -m venv --without-pip --system-site-packages "$KC_WORK/venv" ||
    { skip 'a virtual environment' 'python3 -m venv fails'; return; }
  works 'a virtual environment as PREFIX needs no PYTHONPATH' '^$' sh -c '! "$@" | grep PYTHONPATH && echo' - make \
    -s --no-print-directory -C "$KC_TOP" install PREFIX="$KC_WORK/venv"
  works 'has the module where its Python searches' '^found in .*venv/' found_by venv/bin/python3
  if [ -z "$python" ]; then skip 'import petsc_kcycle' 'no petsc4py for this PETSc'; return; fi
  works 'and imports it' "venv/.*/petsc_kcycle/.* kcycle$" \
    env -u PETSC_DIR -u PETSC_ARCH -u KCYCLE_LIB -u PYTHONPATH PYTHONDONTWRITEBYTECODE=1 venv/bin/python3 -c '
from petsc4py import PETSc
import petsc_kcycle
pc = PETSc.PC().create()
pc.setType("kcycle")
print(petsc_kcycle.__file__, pc.getType())'
}

works 'make install PREFIX= says what to add to PYTHONPATH' "PYTHONPATH=$prefix/lib/python.*/site-packages" \
  make_install PREFIX="$prefix"
works 'installs library, header, pkg-config file' 'all there' all_there "$prefix"
works 'the pkg-config file has the version' "^$(cat "$KC_TOP/VERSION.txt")$" pkg-config --modversion petsckcycle
works 'a program builds with pkg-config alone' '' build_embed
for n in 1 2; do works "and runs, n=$n" 'solved with kappa 3' mpi $n by-make/embed; done
if command -v cmake > /dev/null; then
  works 'a program builds with CMake' 'Built target embed' build_embed_cmake
  for n in 1 2; do works "and runs, n=$n" 'solved with kappa 3' mpi $n by-cmake/build/embed; done
else skip 'a program builds with CMake' 'no cmake'; fi
if [ -f "$KC_TUTORIALS/ex45.c" ]; then
  compile c "$KC_TUTORIALS/ex45.c" ex45
  works 'the installed library loads' 'type: kcycle' mpi 1 ./ex45 -dll_append "$prefix/lib/libpetsckcycle.so" \
    -pc_type kcycle -ksp_view
fi
works 'make install DESTDIR= PREFIX=' '' make_install DESTDIR="$KC_WORK/stage" PREFIX=/usr
works 'installs below DESTDIR' 'all there' all_there stage/usr
works 'but names PREFIX' '^prefix=/usr$' cat stage/usr/lib/pkgconfig/petsckcycle.pc
works 'with links that stay right when moved' '\.\./.*lib' readlink \
  stage/usr/lib/python*/*-packages/petsc_kcycle/libpetsckcycle.so
check_python
