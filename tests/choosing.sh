#!/bin/sh
# The recipes of docs/choosing.md: each runs as it is printed, in at most as many iterations as the page says, and
# prints what it says.
# Run by: make check SEARCH=choosing
set -u
. "$KC_TOP/conf/tap.sh"
src=$KC_TOP/examples/tutorials

# A recipe: a command # at most N iterations[; prints "text"][; with feature], one of both at least; a backslash
# joins two lines
sed ':a; /\\$/ { N; s/\\\n *//; ba; }' "$KC_TOP/docs/choosing.md" \
  | sed -n 's/^    \(\(mpiexec\|\.\/\).*\)/\1/p' > recipes

# build PROGRAM: an example, or the battery's program
build() {
  source=$src/$1.c
  [ "$1" = battery ] && source=$KC_TOP/bench/battery.c
  compile c "$source" "$1" -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" > build.log 2>&1 ||
    { cat build.log; exit 1; }
}

# Why this one cannot run here, or nothing
lacking() {
  case $1 in
    *'with hypre'*) petsc_has PETSC_HAVE_HYPRE || echo 'this PETSc has no hypre' ;;
    *'with FFTW'*) case $KC_FEATURES in *HAVE_FFTW*) ;; *) echo 'the library has no FFTW' ;; esac ;;
  esac
}

# keeps N TEXT COMMAND...: all solves converge in at most N iterations, N empty: no matter in how many, and TEXT is
# printed
keeps() {
  most=$1 text=$2
  shift 2
  "$@" > keeps.log 2>&1 || { cat keeps.log; return 1; }
  cat keeps.log
  awk -v most="$most" -v text="$text" '
    index($0, text) { printed++ }
    / solve converged / { solves++; if (most != "" && $NF > most) bad++ }
    / did not converge / { bad++ }
    END { exit !solves || bad || !printed }' keeps.log
}

export OMPI_MCA_ess_singleton_isolated=1 # one process alone starts faster
if petsc_has PETSC_USE_COMPLEX; then skip 'recipes' 'those are for real numbers'; exit 0; fi
for program in $(sed -n 's/.*\.\/\([a-z]*\) .*/\1/p' recipes | sort -u); do build "$program"; done
while IFS= read -r line; do
  words=${line%%#*} claim=${line#*#}
  most=$(echo "$claim" | sed -n 's/.*at most \([0-9]*\) iterations.*/\1/p') text=$(echo "$claim" |
    sed -n 's/.*prints "\(.*\)".*/\1/p')
  title=$(echo "$line" | tr -s ' ' | tr '#' ':')
  reason=$(lacking "$claim")
  if [ -n "$reason" ]; then skip "$title" "$reason"; continue; fi
  if [ -z "$most$text" ]; then false > "$log"; not_ok "$title" 'the page claims nothing of it'; continue; fi
  case $words in
    mpiexec*) start="mpi $(echo "$words" | cut -d ' ' -f 3)" words=.${words#* .} ;;
    *) start='timeout 120' ;;
  esac
  # shellcheck disable=SC2086 # words
  works "$title" '' keeps "$most" "$text" $start $words -dll_append "$KC_LIBRARY" -ksp_rtol 1e-8 -ksp_converged_reason
done < recipes
works 'the page has recipes' '' test "$(wc -l < recipes)" -ge 10

# bench/tables.py, which makes the page's table: with two solvers on a small grid
tables() { python3 -B "$KC_TOP/bench/tables.py" --quick --repeat 1 "$@"; }
table() {
  tables --parts choosing --only 2d-dirichlet --solvers kcycle,jacobi > table.log 2>&1 || { cat table.log; return 1; }
  cat "$KC_BUILD/bench/choosing.csv"
}
works 'a line of the table: iterations, kcycle as the fastest, how many times as long one level takes' \
  '^2d-dirichlet,"constant, 2D",[0-9]*,,6,[0-9.e-]*,[0-9.e-]*,1.00,kcycle,,,.*,[1-9][0-9.]*,jacobi,[0-9]*,' table
refuses 'a case that is not there' 'no case is called none' tables --only none
refuses 'a part that is not there' 'no part is called none' tables --parts none
# part NAME LINES ARGUMENTS...: NAME.csv has LINES lines
part() {
  name=$1 number=$2
  shift 2
  tables "$@" > part.log 2>&1 || { cat part.log; return 1; }
  cat "$KC_BUILD/bench/$name.csv"
  test "$(wc -l < "$KC_BUILD/bench/$name.csv")" -eq $((number + 1))
}
works 'how many times as long another solver takes as kcycle' \
  '^"2D, constant, 1025^2",1,[0-9.e-]*,[3-8],,,,.*,[1-9][0-9.]*,[0-9]*,gamg$' \
  part ratios 1 --parts solvers --only 2d-constant --solvers kcycle,gamg
works 'rates of kernels' '^2d-constant,kcycle,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*$' \
  part kernels 1 --parts kernels --only 2d-constant --solvers kcycle
works 'coarser grids of the same problem for PCMG' '^2d-constant,mg-sor,[^,]*,[^,]*,[^,]*,[3-9],.*,ok,' \
  part solvers 2 --parts solvers --only 2d-constant --solvers kcycle,mg-sor
works 'without a DM, on two processes' '^planes cut,2,2,[0-9]*,constant,\([0-9]*\),\1,' \
  part nodm 4 --parts nodm --only 'planes cut'
if petsc_has PETSC_HAVE_HYPRE && [ -f /usr/include/hypre/HYPRE_struct_ls.h ]; then
  works 'PFMG without the interface of PETSc' '^2d-constant,pfmg-direct,.*,ok,' \
    part solvers 2 --parts solvers --only 2d-constant --solvers kcycle,pfmg-direct
else
  skip 'PFMG without the interface of PETSc' 'no headers of hypre'
fi
