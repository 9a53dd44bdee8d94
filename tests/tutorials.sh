#!/bin/sh
# PETSc's own tutorials, compiled as they are shipped, with the plugin and no option but the type: they converge,
# quickly.
# Run by: make check SEARCH=tutorials
set -u
. "$KC_TOP/conf/tap.sh"
processes=${FEWER:+1 8}
processes=${processes:-1 2 3 4 8}
src=$(cd "$KC_TUTORIALS/../../.." && pwd)

# build NAME FOLDER: a tutorial of PETSc's, or the reason why not
build() {
  if [ ! -f "$src/$2/$1.c" ]; then echo "this PETSc comes without $2/$1.c" > "$1.missing"; return; fi
  compile c "$src/$2/$1.c" "$1" > "$1.log" 2>&1 || echo "$2/$1.c does not compile with this PETSc" > "$1.missing"
}

# Iterations of each linear solve, at most a number: -ksp_converged_reason prints them
few() {
  most=$1
  shift
  "$@" > few.log 2>&1 || { cat few.log; return 1; }
  cat few.log
  awk -v most="$most" \
    '/solve converged/ { solves++; if ($NF > most) bad++ } /did not converge/ { bad++ } END { exit !solves || bad }' \
    few.log
}

# solves CLAIM MOST PROGRAM OPTIONS...: on 1, 2, 3, 4 and 8 processes, with FEWER=2 on 1 and 8
solves() {
  claim=$1 most=$2 program=$3
  shift 3
  for n in $processes; do
    title="$program, $claim, at most $most iterations, n=$n"
    if [ -f "$program.missing" ]; then skip "$title" "$(cat "$program.missing")"; continue; fi
    works "$title" 'solve converged' few "$most" mpi $n "./$program" -dll_append "$KC_LIBRARY" -pc_type kcycle \
      -ksp_rtol 1e-8 -ksp_converged_reason -malloc_dump "$@"
  done
}

# The same with structured levels, whose iterations do not depend on the number of processes
alike() {
  few "$@" > alike.log || { cat alike.log; return 1; }
  awk '/solve converged/ { print $NF }' alike.log > iterations
  [ -f expected ] || cp iterations expected
  cat alike.log
  diff expected iterations
}

solves_alike() {
  claim=$1 most=$2 program=$3
  shift 3
  rm -f expected
  for n in $processes; do
    title="$program, $claim, structured levels, at most $most iterations, those of one process, n=$n"
    if petsc_has PETSC_USE_COMPLEX; then skip "$title" 'structured levels are for real numbers'; continue; fi
    if [ -f "$program.missing" ]; then skip "$title" "$(cat "$program.missing")"; continue; fi
    works "$title" 'solve converged' alike "$most" mpi $n "./$program" -dll_append "$KC_LIBRARY" -pc_type kcycle \
      -pc_kcycle_structured on -ksp_rtol 1e-8 -ksp_converged_reason -malloc_dump "$@"
  done
}

# Prints the last residual norm, which must be the one of the first call to 0.1 %
same_residual() {
  "$@" > residual.log 2>&1 || { cat residual.log; return 1; }
  awk '/KSP Residual norm/ { last = $NF } END { print last }' residual.log > last
  [ -f residual.expected ] || cp last residual.expected
  echo "residual norm $(cat last), one process: $(cat residual.expected)"
  awk 'NR == 1 { a = $1 } NR == 2 { exit !(a > 0 && $1 > 0.999 * a && $1 < 1.001 * a) }' residual.expected last
}

# Long lines: planes are worked on in strips, where processes are cut as well
strips() {
  rm -f residual.expected
  for n in 1 2 3; do
    title="ex45, strips of planes, residuals of one process, n=$n"
    if petsc_has PETSC_USE_COMPLEX; then skip "$title" 'structured levels are for real numbers'; continue; fi
    if [ -f ex45.missing ]; then skip "$title" "$(cat ex45.missing)"; continue; fi
    works "$title" 'residual norm' same_residual mpi $n ./ex45 -dll_append "$KC_LIBRARY" -pc_type kcycle \
      -pc_kcycle_structured on -ksp_type richardson -ksp_norm_type unpreconditioned \
      -ksp_max_it 5 -ksp_monitor -da_grid_x 651 -da_grid_y 71 -da_grid_z 25 -da_processors_x 1 -da_processors_y 1 \
        -da_processors_z $n
  done
}

build ex45 ksp/ksp/tutorials
build ex29 ksp/ksp/tutorials
build ex50 ksp/ksp/tutorials
build ex5 snes/tutorials
build ex13 snes/tutorials
build ex19 snes/tutorials

for kappa in 1 2 w; do
  solves "3D, kappa $kappa" 11 ex45 -da_refine 2 -pc_kcycle_kappa $kappa -pc_kcycle_structured off
done
solves '2D, variable coefficient' 12 ex29 -da_refine 5 -bc_type dirichlet -rho 0.3 -pc_kcycle_structured off
solves '2D, Neumann' 14 ex29 -da_refine 5 -bc_type neumann -pc_kcycle_structured off
solves 'singular' 12 ex50 -da_refine 4 -ksp_type cg -pc_kcycle_structured off
solves 'singular, levels of GAMG' 25 ex50 -da_refine 4 -ksp_type cg -pc_kcycle_hierarchy gamg
solves 'nonlinear' 12 ex5 -da_refine 4 -pc_kcycle_structured off
solves 'nonlinear, coarse operators assembled' 12 ex5 -da_refine 4 -pc_mg_galerkin none
solves 'nonlinear, grid sequence' 12 ex5 -da_refine 1 -snes_grid_sequence 3 -pc_kcycle_structured off
solves 'unstructured finite elements' 12 ex13 -petscpartitioner_type simple -dm_plex_simplex 0 -dm_plex_box_faces 4,4 \
  -dm_refine_hierarchy 3 -potential_petscspace_degree 1 -ksp_type cg -pc_kcycle_kappa 3
petsc_has PETSC_USE_COMPLEX || solves '4 unknowns, cycles diverge where unknowns share grids and where they do not' 20 \
  ex19 -da_refine 4 -grashof 1.2e4 -snes_max_it 1
for kappa in 1 2 w; do
  solves_alike "3D, kappa $kappa" 7 ex45 -da_refine 2 -pc_kcycle_kappa $kappa
done
solves_alike '2D, variable coefficient' 9 ex29 -da_refine 5 -bc_type dirichlet -rho 0.3
solves_alike '2D, Neumann' 6 ex29 -da_refine 5 -bc_type neumann
solves_alike 'singular' 6 ex50 -da_refine 4 -ksp_type cg
solves_alike '3D, coarse operators assembled' 7 ex45 -da_refine 2 -pc_mg_galerkin none
solves_alike 'singular, coarse operators assembled' 8 ex50 -da_refine 4 -ksp_type cg -pc_mg_galerkin none
solves_alike 'nonlinear' 7 ex5 -da_refine 4
solves_alike 'nonlinear, grid sequence' 6 ex5 -da_refine 1 -snes_grid_sequence 3
strips
[ "$tap_count" -gt 0 ]
