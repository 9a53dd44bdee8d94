#!/bin/sh
# PETSc's own tutorials with matrices of type stencil: as many iterations as with AIJ, with preconditioners of all
# kinds.
# Run by: make check SEARCH=stencil
set -u
. "$KC_TOP/conf/tap.sh"
src=$(cd "$KC_TUTORIALS/../../.." && pwd)

# build NAME FOLDER: a tutorial of PETSc's, or the reason why not
build() {
  if [ ! -f "$src/$2/$1.c" ]; then echo "this PETSc comes without $2/$1.c" > "$1.missing"; return; fi
  compile c "$src/$2/$1.c" "$1" > "$1.log" 2>&1 || echo "$2/$1.c does not compile with this PETSc" > "$1.missing"
}

# Runs a program with each matrix type; what -ksp_converged_reason prints must be the same, and nothing may be left of
# memory
alike() {
  for type in aij stencil; do
    "$@" -dll_append "$KC_LIBRARY" -ksp_converged_reason -malloc_dump -dm_mat_type $type > "$type.out" 2>&1 ||
      { cat "$type.out"; return 1; }
    if grep 'bytes' "$type.out"; then return 1; fi
    grep 'solve converged' "$type.out" > "$type.reasons" || { cat "$type.out"; return 1; }
  done
  cat aij.reasons stencil.reasons
  cmp aij.reasons stencil.reasons
}

# same PROGRAM OPTIONS...: on 1 and 2 processes
same() {
  program=$1
  shift
  for n in 1 2; do
    title="$program $*: iterations as with AIJ, n=$n"
    if [ -f "$program.missing" ]; then skip "$title" "$(cat "$program.missing")"; continue; fi
    works "$title" 'solve converged' alike mpi "$n" "./$program" "$@"
  done
}

build ex45 ksp/ksp/tutorials
build ex29 ksp/ksp/tutorials
build ex50 ksp/ksp/tutorials
build ex5 snes/tutorials

same ex45 -da_refine 1 -pc_type jacobi
same ex29 -da_refine 2 -pc_type jacobi
same ex29 -da_refine 2 -pc_type jacobi -bc_type neumann
same ex50 -da_refine 2 -pc_type jacobi
same ex5 -da_refine 1 -pc_type jacobi
for options in '' '-pc_type sor' '-pc_type asm' '-pc_type telescope' '-pc_type mg' '-pc_type mg -pc_mg_galerkin both' \
  '-pc_type redundant' '-pc_type redundant -redundant_pc_type cholesky' '-pc_type kcycle' \
  '-pc_type pbjacobi' '-pc_type gasm' '-pc_type gamg' '-pc_type hmg' '-pc_type lu -pc_factor_mat_solver_type mumps' \
    '-pc_type hypre'; do
  case $options in
    *hypre*) package=HYPRE ;;
    *mumps*) package=MUMPS ;;
    *) package= ;;
  esac
  if [ "$package" ] && ! petsc_has "PETSC_HAVE_$package"; then
    skip "ex45 $options: iterations as with AIJ" "this PETSc comes without $package"
    continue
  fi
  # shellcheck disable=SC2086 # words
  same ex45 -da_refine 1 $options
done
if [ ! -f ex45.missing ]; then
  for n in 1 2; do
    # Lines of inner points and lines of boundary points, on each process
    works "the view says what is stored, n=$n" "49 of 49 grid lines share $((2 * n)) sets of coefficients" mpi $n \
      ./ex45 -dll_append "$KC_LIBRARY" -dm_mat_type stencil -pc_type jacobi -ksp_view
  done
fi
if [ ! -f ex45.missing ]; then
  for n in 1 2; do
    refuses "classical coarsening of PCGAMG is refused in words, n=$n" 'stencil cannot be made: it has no DM' mpi $n \
      ./ex45 -dll_append "$KC_LIBRARY" -dm_mat_type stencil -pc_type gamg -pc_gamg_type classical
  done
fi
if [ ! -f ex5.missing ]; then
  refuses 'colouring is refused in words' 'snes_fd_color, are not for matrices of type stencil' ./ex5 \
    -dll_append "$KC_LIBRARY" -dm_mat_type stencil -snes_fd_color
  works 'Jacobian-free with the matrix for the preconditioner' 'Nonlinear solve converged' ./ex5 \
    -dll_append "$KC_LIBRARY" -dm_mat_type stencil -snes_mf_operator -snes_converged_reason
fi
[ "$tap_count" -gt 0 ]
