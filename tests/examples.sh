#!/bin/sh
# The examples in Python and Fortran, and what the others refuse and write to files.
# Run by: make check SEARCH=examples
set -u
. "$KC_TOP/conf/tap.sh"
src=$KC_TOP/examples/tutorials

build() { compile c "$src/$1.c" "$1" -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" \
  > build.log 2>&1 || { cat build.log; exit 1; }; }

# shellcheck disable=SC2086 # words
wrong() { refuses "$1 $2 is refused" "$3" ./$1 $2; }

refusals() {
  wrong heat '-n 1' '-n is the number of cells in each direction, at least 2, not 1'
  wrong heat '-dt 0' '-dt is a time step, which is positive, not 0'
  wrong elasticity '-n 1' '-n is the number of points in each direction, at least 2, not 1'
  wrong elasticity '-poisson 0.5' '-poisson lies between -1 and 0.5 and is not 0.5'
  wrong projection '-n 3' '-n is the number of cells in each direction, at least 4, not 3'
  wrong projection '-dt -1' '-dt is a time step, which is positive, not -1'
  wrong projection '-contrast 0.5' '-contrast is the density of the liquid'
}

setups() { ./heat -n 16 "$@" -log_view | awk '/^PCSetUp / { print $2 }'; }

# PCSetUp counts the coarse solvers, too
reuse() {
  once=$(setups -steps 3) more=$(setups -steps 8) twice=$(setups -steps 8 -double 4)
  echo "set-ups: $once, $more, $twice"
  [ "$once" -ge 1 ] && [ "$more" = "$once" ] && [ "$twice" = $((2 * once)) ]
}

# A file for each step, with all fields
series() {
  mpi "$1" ./projection -n 20 -steps 3 -output "rise$1" || return 1
  for file in "rise$1-0000.vts" "rise$1-0001.vts" "rise$1-0002.vts"; do
    for field in density pressure velocity; do grep -a -q "Name=\"$field" "$file" || { echo "$file: no $field";
      return 1; }; done
  done
  [ ! -e "rise$1-0003.vts" ] && echo 'three files'
}

in_python() {
  python=$(find_petsc4py)
  if [ -z "$python" ]; then skip 'poisson.py' 'no petsc4py for this PETSc'; return; fi
  for n in 1 2; do
    for options in '' '-dm_mat_type stencil'; do
      # shellcheck disable=SC2086 # words
      works "poisson.py $options, n=$n" '^u at the centre: 0.07367 ' mpi $n env -u PETSC_DIR -u PETSC_ARCH \
        PYTHONDONTWRITEBYTECODE=1 "PYTHONPATH=$KC_TOP/python" \
        "$python" "$src/poisson.py" -ksp_type cg -ksp_rtol 1e-8 -ksp_error_if_not_converged -ksp_max_it 6 $options
    done
  done
}

in_fortran() {
  claim='poisson.F90'
  petsc_has PETSC_HAVE_FORTRAN || { skip "$claim" 'this PETSc has no Fortran'; return; }
  command -v "$(pkg-config --variable=fcompiler "$(petsc_pc)")" > /dev/null || { skip "$claim" 'no Fortran compiler';
    return; }
  compile f "$src/poisson.F90" poissonf -ffree-line-length-0 > "$log" 2>&1 || { not_ok "$claim" 'does not compile';
    return; }
  for n in 1 2; do
    works "$claim, n=$n" '^u at the centre: 0.07367 ' mpi $n ./poissonf -dll_append "$KC_LIBRARY" -ksp_type cg \
      -ksp_rtol 1e-8 -pc_type kcycle -ksp_error_if_not_converged -ksp_max_it 6
  done
}

# The lines that README shows, in its order, are those of the program
excerpt() {
  compile c "$src/poisson.c" poisson > build.log 2>&1 || { cat build.log; return 1; }
  sed -n '/^`-ksp_type cg .*-ksp_view` of .*poisson\.c/,/^## /p' "$KC_TOP/README.md" | grep '^      ' |
    sed 's/^ *//' > shown
  ./poisson -dll_append "$KC_LIBRARY" -ksp_type cg -pc_type kcycle -ksp_view | sed 's/^ *//' | grep -F -x -f shown |
    uniq > printed
  diff shown printed && [ "$(wc -l < shown)" -ge 8 ] && echo 'as printed'
}

lines=$(sed '/^}$/q' "$src/poisson.c" | wc -l)
works "poisson.c has at most 42 lines" '' test "$lines" -le 42
if petsc_has PETSC_USE_COMPLEX; then skip 'the excerpt of -ksp_view in README' 'it is that of real numbers'
else works 'README shows what -ksp_view prints' 'as printed' excerpt; fi
for program in heat elasticity projection; do build $program; done
refusals
works "heat sets the preconditioner up once for 3 and for 8 steps, twice when the step changes" "" reuse
if petsc_has PETSC_USE_COMPLEX; then skip 'a series of files' 'PETSC writes VTK files with real numbers only'
else for n in 1 2; do works "projection -output writes a series of files, n=$n" 'three files' series $n; done; fi
in_python
in_fortran
