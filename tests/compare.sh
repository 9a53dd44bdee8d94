#!/bin/sh
# make compare: programs, matrices and problems are solved by each solver to the same residual; what cannot be compared
# is named.
# Run by: make check SEARCH=compare
set -u
. "$KC_TOP/conf/tap.sh"

if petsc_has PETSC_USE_COMPLEX; then skip 'solvers are compared' 'structured levels have real numbers'; exit 0; fi
paper() { python3 -B "$KC_TOP/bench/paper.py" --no-pictures --save "$KC_WORK/paper" --repeat 1 "$@"; }
compare() { python3 -B "$KC_TOP/bench/compare.py" --no-pictures --save "$KC_WORK/report" --repeat 1 \
  --solvers kcycle,jacobi "$@"; }

# A program of two solvers with two prefixes, as -named says, or of many solves; -sets: it chooses its preconditioner
# itself; -idle: it solves nothing; -status: it ends with 3; -forever
cat > program.c <<'END'
#include <petscksp.h>

static PetscErrorCode Matrix(PetscInt m, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m, 5, NULL, 5, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    const PetscInt there[] = {i % m > 0, i % m < m - 1, i >= m, i < m * m - m}, to[] = {i - 1, i + 1, i - m, i + m};

    PetscCall(MatSetValue(*A, i, i, 4, INSERT_VALUES));
    for (int k = 0; k < 4; k++) if (there[k]) PetscCall(MatSetValue(*A, i, to[k], -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(Mat A, const char prefix[], PetscInt times, PetscBool forever)
{
  KSP       ksp;
  Vec       b, x;
  PetscBool sets;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, prefix));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-sets", &sets));
  if (sets) PetscCall(PetscOptionsSetValue(NULL, "-pc_type", "sor"));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt i = 0; i < times || forever; i++) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A;
  PetscInt  times = 1;
  PetscBool named, idle, forever;
  char      prefix[64];

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-named", prefix, sizeof(prefix), &named));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-idle", &idle));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-forever", &forever));
  PetscCall(Matrix(20, &A));
  if (!idle) PetscCall(Solve(A, NULL, times, forever));
  if (named) PetscCall(Solve(A, prefix, 400, PETSC_FALSE));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-status", &idle));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return idle ? 3 : 0;
}
END
compile c program.c program -std=gnu99 > build.log 2>&1 || { cat build.log; exit 1; }

# Columns of report/solvers.csv, of one solver
column() { awk -F, -v name="$1" -v solver="$2" \
  'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i } $1 == solver { print $k }' report/solvers.csv; }
# is SOLVER COLUMN VALUE COMMAND...
is() { solver=$1 name=$2 value=$3; shift 3; "$@" > text || { cat text; return 1; }; cat text;
  found=$(column "$name" "$solver"); test "$found" = "$value" || { echo "$name of $solver is '$found'"; return 1; }; }
converged() { "$@" > text || { cat text; return 1; }; cat text; for s in kcycle jacobi; do
  awk -v r="$(column residual "$s")" -v s="$(column status "$s")" \
  'BEGIN { exit !(s == "ok" && r + 0 > 0 && r <= 1.01e-8) }' || return 1; done; }

works 'a program, to a tolerance that all reach' '' converged compare --app './program -pc_type none' --rtol 1e-8
works '... as it is, on two processes' 'Tolerance of the program: 1e-05' is kcycle procs 2 compare --app ./program \
  --procs 2
works 'many solves: sums; a status of its own' 'ends with status 3' is kcycle solves 5 compare \
  --app './program -times 5 -status'
works 'two solvers: the one that takes longer' 'with the prefix -other_' is kcycle solves 400 compare \
  --app './program -named other_'
works '... or the one that is asked for' 'Compared are those with none' is kcycle solves 1 compare \
  --app './program -named other_' --prefix ''
works 'a program that sets its preconditioner itself' 'not taken: the program sets -pc_type sor itself' compare \
  --app './program -sets' --solvers kcycle
works 'a program whose KSP is preonly' 'the others are run with GMRES' converged compare \
  --app './program -ksp_type preonly -pc_type lu'
# On a machine that is very busy even the first solve may not have begun
refuses 'a program that takes forever' 'kcycle  *stopped after [0-9]* s, in solve\|no KSP begins within' compare \
  --app './program -forever' --limit 1 --solvers kcycle
refuses 'a program that solves nothing' 'the program solves nothing by KSPSolve()' compare --app './program -idle'
refuses 'a program that does not run' 'does not run: status .*: Unable to find requested PC type nonesuch' compare \
  --app './program -pc_type nonesuch'
refuses 'a program that is not there' 'none: No such file or directory' compare --app ./none
refuses 'a program without PETSc' 'does not start the PETSc that this library was built for' compare --app true
refuses 'a prefix that is not there' 'no solver has the prefix wrong_' compare --app ./program --prefix wrong_
refuses 'no problem at all' 'one of APP=' compare
refuses 'a solver that is not there' 'no solver is called cholesky; there are kcycle' compare --solvers cholesky \
  --problem 2d-dirichlet
refuses 'a problem that is not there' 'no problem is called 9d' compare --problem 9d
works 'a problem by its options' 'problem, 20 x 20 points' converged compare --problem='-cells 20,20 -ends nn,dd'
refuses 'a problem without sizes' 'how many points are missing' compare --problem='-ends nn,dd'
works 'a problem of the battery, and its sizes' 'of the sizes that were tried\|not faster than the Krylov method' \
  converged compare --small --problem 2d-dirichlet --sizes 0.5
works 'the report' '^| kcycle | `-pc_type kcycle` | ours' cat report/report.md

if petsc_has PETSC_HAVE_HYPRE; then
  works "a paper's variants" 'rs_classic  *5 (6)  .* 2.19 ' paper --small --procs 1
else
  skip "a paper's variants" 'PETSc has no hypre'
fi

# A.mtx: 5 points on 6 x 5; the same nonsymmetric, singular, ...; A.bin: PETSc's format
python3 -B - <<'END'
import struct
n, m = 6, 5
def write(name, change=lambda i, j, a: a, size="30 30", symmetric=False, cut=0):
    entries = [(i, j) for i in range(n * m) for j in range(n * m)
               if i == j or abs(i - j) == n or abs(i - j) == 1 and i // n == j // n]
    entries = [(i, j, change(i, j, 4 if i == j else -1)) for i, j in entries if not symmetric or i >= j]
    with open(name, "w") as file:
        kind = "symmetric" if symmetric else "general"
        file.write(f"%%MatrixMarket matrix coordinate real {kind}\n% five points\n{size} {len(entries)}\n")
        file.writelines(f"{i + 1} {j + 1} {a}\n" for i, j, a in entries[:len(entries) - cut])
    return entries
write("S.mtx", symmetric=True)
entries = write("A.mtx")
write("wind.mtx", lambda i, j, a: a - (i > j))
rows = [sum(1 for e in entries if e[0] == i) - 1 for i in range(n * m)]
write("neumann.mtx", lambda i, j, a: rows[i] if i == j else a)
write("nan.mtx", lambda i, j, a: "nan" if i == j == 7 else a)
write("zero.mtx", lambda i, j, a: 0 if i == 3 else a)
write("wide.mtx", size="30 31")
write("cut.mtx", cut=4)
count = len(entries)
binary = struct.pack(">4i", 1211216, 30, 30, count) + struct.pack(">30i", *(r + 1 for r in rows))
binary += struct.pack(f">{count}i", *(e[1] for e in entries))
binary += struct.pack(f">{len(entries)}d", *(e[2] for e in entries))
open("A.bin", "wb").write(binary)
open("cut.bin", "wb").write(binary[:-8])
open("b.bin", "wb").write(struct.pack(">2i30d", 1211214, 30, *range(30)))
open("short.bin", "wb").write(struct.pack(">2i3d", 1211214, 3, 1, 2, 3))
open("text.bin", "w").write("4 -1 -1\n")
END
for file in S.mtx A.bin; do
  works "a matrix in $file, a right side" 'symmetric with a positive diagonal' converged compare --matrix $file \
    --rhs b.bin
done
works 'one on a grid, on two processes' '' converged compare --matrix S.mtx --grid 6,5 --procs 2 \
  --solvers kcycle,jacobi,mg-own-levels
works 'one that is not symmetric' 'not symmetric' converged compare --matrix wind.mtx
works 'one whose rows sum to zero' 'constants are its null space' converged compare --matrix neumann.mtx

# wrong CLAIM PATTERN OPTIONS
wrong() { claim=$1 pattern_=$2; shift 2; refuses "$claim" "$pattern_" compare "$@"; }
wrong 'NaN in a matrix' 'row 7 (from 0) holds NaN' --matrix nan.mtx
wrong 'a row of zeros' 'row 3 (from 0) is zero: the matrix is singular' --matrix zero.mtx
wrong 'a matrix that is not square' 'has 30 rows and 31 columns: not square' --matrix wide.mtx
wrong 'a file in text that ends early' 'cut.mtx ends at entry' --matrix cut.mtx
wrong 'a binary file that ends early' 'cut.bin ends before its' --matrix cut.bin
wrong 'a file that is not there' 'none.bin cannot be read' --matrix none.bin
wrong 'a format that is not known' 'text.bin has an unknown format: neither' --matrix text.bin
wrong 'a vector as matrix' 'is a vector: RHS= is the place' --matrix b.bin
wrong 'a right side that does not fit' 'short.bin has 3 numbers, the matrix 30 rows' --matrix A.bin --rhs short.bin
wrong 'a grid that does not fit' 'GRID=7,5 has 35 points, the matrix 30 rows' --matrix A.bin --grid 7,5
wrong 'a grid with another order' 'more than one point away' --matrix A.bin --grid 15,2
wrong 'a grid that is none' 'GRID=6x5 is no grid' --matrix A.bin --grid 6x5
wrong 'a grid without a matrix' 'RHS and GRID go with MATRIX' --problem 2d-dirichlet --grid 6,5
[ "$tap_count" -gt 0 ]
