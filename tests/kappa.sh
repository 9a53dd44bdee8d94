#!/bin/sh
# bench/kappa: error factors and iterations of the kappa-cycle paper's solvers are those of dense matrices, on any
# number of processes; the model's numbers.
# Run by: make check SEARCH=kappa
set -u
. "$KC_TOP/conf/tap.sh"

if petsc_has PETSC_USE_COMPLEX; then skip 'the solvers of the paper' 'structured levels have real numbers'; exit 0; fi
compile c "$KC_TOP/bench/kappa.c" kappa -std=gnu99 "-I$KC_TOP/include" "$KC_LIBRARY" "-Wl,-rpath,$KC_BUILD/lib" \
  > build.log 2>&1 || { cat build.log; exit 1; }

# A start, and cycles, that dense matrices of the paper's formulas had: method kappa value tolerance
cat > jacobi <<'END'
factor 1 0.836591 2e-4
factor 2 0.757760 2e-4
factor 0 0.756379 2e-4
cg 1 20 2
cg 2 16 2
cg 0 16 2
END
cat > alternating <<'END'
factor 1 0.625973 1e-4
factor 2 0.499675 1e-4
factor 0 0.497000 1e-4
cg 1 13 2
cg 2 11 2
cg 0 10 2
END
cat > zebra <<'END'
factor 1 0.490667 1e-4
factor 2 0.339962 1e-4
factor 0 0.337126 1e-4
cg 1 10 2
cg 2 8 2
cg 0 8 2
END

# as_expected PROCESSES SOLVER OPTIONS...: no value is off, none is missing, nothing is left of the memory
as_expected() {
  processes=$1 solver=$2
  shift 2
  mpi "$processes" ./kappa -skip_petscrc -malloc_dump -solver "$solver" "$@" > out || { cat out; return 1; }
  cat out
  awk -F'[ ,]' 'NR == FNR { value[$1 $2] = $3; tolerance[$1 $2] = $4; n++; next }
    $1 != "result" { print "NO: " $0; bad = 1; next }
    { d = $8 - value[$3 $7]; if (d < 0) d = -d; n-- }
    !(($3 $7) in value) || d > tolerance[$3 $7] { print "NO: " $0; bad = 1 }
    END { exit bad || n != 0 }' "$solver" out
}

for solver in jacobi alternating zebra; do
  for processes in 1 2; do
    works "$solver on $processes: factors and iterations are those of dense matrices" '' as_expected $processes \
      $solver -n 5 -kappas 1,2,0 -methods factor,cg
  done
done
printf 'factor %s 0.002\n' '1 0.91902' '2 0.84777' '3 0.84040' '4 0.84038' '0 0.84038' > jacobi
works 'error factors of six levels with Jacobi' '' as_expected 1 jacobi -n 6 -methods factor
works 'calls of a kappa-cycle on five levels' '^calls,5,3,1,2,4,7,11$' ./kappa -skip_petscrc -n 5 -calls

kappa() { python3 -B "$KC_TOP/bench/kappa.py" "$@"; }
row() { kappa --parts model > text && grep -q "$1" "$KC_BUILD/bench/kappa-model.csv" &&
  grep "$2" "$KC_BUILD/bench/kappa-turning.csv"; }
works 'the model at twelve levels, and turning points' '3,10.0' row '^12,3,67,298,2146,' '^3,10.0,.*,10.0,1000000'
works 'a table and that of the paper' '(Table 4.6, n = 14)' kappa --parts tables --sizes 4 --solvers zebra --angles 45 \
  --epsilons 1e-5
refuses 'a part that is not there' 'no part is called figures' kappa --parts figures
refuses 'a solver that is not there' 'no solver is called sor' kappa --solvers sor

# shellcheck disable=SC2086 # words
wrong() { refuses "$1 is refused" "$2" ./kappa -skip_petscrc $1; }
wrong '-solver sor' '-solver is jacobi, alternating or zebra, not sor'
wrong '-n 0' '-n lies in 1 to 14'
wrong '-epsilon 0' '-epsilon lies above 0'
wrong '-n 3 -methods gmres' '-methods are alone, cg, factor and cycle, not gmres'
[ "$tap_count" -gt 0 ]
