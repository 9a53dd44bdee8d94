static char help[] = "The order of PCRELAX where none is chosen: symmetric under Krylov methods, also inside "
                     "another preconditioner, forward in the sweeps of KSPRICHARDSON.\n\n";

#include "poisson.h"

/* A vector that does not depend on the number of processes */
static PetscErrorCode Fill(DM da, PetscReal phase, Vec v)
{
  Vec      natural;
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(DMDACreateNaturalVector(da, &natural));
  PetscCall(VecGetOwnershipRange(natural, &first, &end));
  for (PetscInt i = first; i < end; i++)
    PetscCall(VecSetValue(natural, i, PetscSinReal(phase + (PetscReal)i * i), INSERT_VALUES));
  PetscCall(AssembleVec(natural));
  PetscCall(DMDANaturalToGlobalBegin(da, natural, INSERT_VALUES, v));
  PetscCall(DMDANaturalToGlobalEnd(da, natural, INSERT_VALUES, v));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(0);
}

/* Is (u, M v) = (M u, v), and (v, M v) > 0? */
static PetscErrorCode IsSymmetric(PC pc, Vec u, Vec v, PetscBool *yes)
{
  PetscScalar a, b, c;
  Vec         Mu, Mv;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &Mu));
  PetscCall(VecDuplicate(v, &Mv));
  PetscCall(PCApply(pc, u, Mu));
  PetscCall(PCApply(pc, v, Mv));
  PetscCall(VecDot(Mv, u, &a));
  PetscCall(VecDot(v, Mu, &b));
  PetscCall(VecDot(v, Mv, &c));
  *yes = (PetscBool)(PetscAbsScalar(a - b) <= 1e-12 * PetscAbsScalar(c) && PetscRealPart(c) > 0);
  PetscCall(DestroyAll(&Mu, &Mv));
  PetscFunctionReturn(0);
}

/* Solves with options of its own; x and the number of iterations, and whether the preconditioner has been symmetric
   then */
static PetscErrorCode Solve(Mat A, const char *options, Vec b, Vec v, Vec x, PetscInt *its, PetscBool *symmetric)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MakeKSP(A, NULL, PCRELAX, &ksp, &pc));
  PetscCall(KSPSetOptionsPrefix(ksp, "a_"));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 400));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(VecSet(x, 0));
  PetscCall(SolveSystem(ksp, b, x, its, NULL));
  PetscCall(IsSymmetric(pc, b, v, symmetric));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(0);
}

/* Both ways of solving give the same number of iterations and the same vector */
static PetscErrorCode Alike(Mat A, const char *one, const char *other, Vec b, Vec v, PetscInt *its,
                            PetscBool symmetric[2], PetscBool *alike)
{
  PetscReal norm, difference;
  PetscInt  n[2];
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(DuplicateVec(b, &x, &y));
  PetscCall(Solve(A, one, b, v, x, &n[0], &symmetric[0]));
  PetscCall(Solve(A, other, b, v, y, &n[1], &symmetric[1]));
  PetscCall(DifferenceNorms(y, x, NORM_2, &difference, &norm));
  *its   = n[0];
  *alike = (PetscBool)(n[0] == n[1] && difference <= 1e-12 * norm);
  PetscCall(DestroyAll(&x, &y));
  PetscFunctionReturn(0);
}

static PetscErrorCode Problem(Poisson *p)
{
  DM        da;
  Mat       A;
  Vec       b, v;
  PetscInt  its, forward;
  PetscBool alike, symmetric[2], unused;

  PetscFunctionBeginUser;
  PetscCall(PoissonCreateDM(PETSC_COMM_WORLD, p, &da));
  PetscCall(DMSetMatType(da, MATSTENCIL));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(PoissonAssemble(p, da, A));
  PetscCall(MatCreateVecs(A, &v, &b));
  PetscCall(Fill(da, 1, b));
  PetscCall(Fill(da, 2, v));
  PetscCall(Alike(A, "-a_ksp_type cg", "-a_ksp_type cg -a_pc_relax_order symmetric", b, v, &its, symmetric, &alike));
  PetscCall(Print("%" PetscInt_FMT "D: CG takes %" PetscInt_FMT " iterations", p->dim, its));
  PetscCall(Solve(A, "-a_ksp_type cg -a_pc_type jacobi", b, v, v, &forward, &unused));
  PetscCall(Print(", with PCJACOBI %" PetscInt_FMT "\n", forward));
  PetscCall(Claim(alike && symmetric[0] && symmetric[1], "under KSPCG a sweep is symmetric"));
  PetscCall(Fill(da, 2, v));
  PetscCall(Alike(A, "-a_ksp_type cg -a_pc_type ksp -a_ksp_ksp_type preonly -a_ksp_pc_type relax",
                  "-a_ksp_type cg -a_pc_type composite -a_pc_composite_pcs relax", b, v, &its, symmetric, &alike));
  PetscCall(Claim(alike && symmetric[0] && symmetric[1], "and inside PCKSP and PCCOMPOSITE"));
  PetscCall(Alike(A, "-a_ksp_type richardson -a_ksp_max_it 3 -a_ksp_norm_type none",
                  "-a_ksp_type richardson -a_ksp_max_it 3 -a_ksp_norm_type none -a_pc_relax_order forward", b, v, &its,
                  symmetric, &alike));
  PetscCall(Claim(alike && !symmetric[0] && !symmetric[1], "under KSPRICHARDSON it is forward"));
  PetscCall(Alike(A, "-a_ksp_type richardson -a_ksp_max_it 3",
                  "-a_ksp_type richardson -a_ksp_max_it 3 -a_ksp_norm_type none", b, v, &its, symmetric, &alike));
  PetscCall(Claim(alike && !symmetric[0], "with norms, and so sweep by sweep, as well"));
  PetscCall(DestroyAll(&b, &v, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Poisson p = {1, 0, 1, 1, PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  for (p.dim = 1; p.dim <= 3; p.dim++) {
    p.n = p.dim == 3 ? 16 : 40;
    PetscCall(Problem(&p));
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    nsize: {{1 3 4}}
    output_file: output/relaxorder.out

TEST*/
