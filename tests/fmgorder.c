static char help[] =
    "One application of full multigrid is a solver: of order 2 in the maximum norm, whatever the boundary.\n\
  -show        the errors\n\
  -functions   instead: what else there is\n\n";

#include "poisson.h"

/* -div(k grad u) = f on the unit interval, square or cube: finite volumes around points. u does not vanish on the
   boundary; Neumann boundaries have no flux */
typedef enum {
  WALL_ELIMINATED, /* Dirichlet points are left out */
  WALL_STORED,     /* or have rows of their own */
  WALL_CELLS,      /* Neumann, half a cell away */
  WALL_VERTICES,   /* Neumann, at the last points, which have half a volume */
  WALL_PERIODIC,
  NUM_WALLS
} Wall;

static const char *const Walls[] = {"Dirichlet, eliminated", "Dirichlet, stored", "Neumann, cells", "Neumann, vertices",
                                    "periodic"};

typedef struct {
  PetscInt  dim, n;
  Wall      wall;
  PetscReal vary; /* part by which k varies */
  PetscReal h;
  PetscBool zero; /* u is zero at Dirichlet points */
} Problem;

static PetscReal Place(const Problem *p, PetscInt i)
{
  return p->h * (i + (p->wall == WALL_ELIMINATED ? 1 : p->wall == WALL_CELLS ? 0.5 : 0));
}

/* Of the factor of u in direction d: itself, its first or its second derivative */
static PetscReal Factor(const Problem *p, PetscInt d, PetscReal x, int derivative)
{
  const PetscReal mean = p->zero ? 0 : 1.5;
  const PetscReal a    = p->zero                    ? PETSC_PI
                         : p->wall <= WALL_STORED   ? 2
                         : p->wall == WALL_PERIODIC ? 2 * PETSC_PI
                                                    : PETSC_PI,
                  s    = a * x + (p->zero                                              ? 0
                                  : p->wall <= WALL_STORED || p->wall == WALL_PERIODIC ? d
                                                                                       : 0.5 * PETSC_PI);

  return derivative == 0 ? mean + PetscSinReal(s) : derivative == 1 ? a * PetscCosReal(s) : -a * a * PetscSinReal(s);
}

static PetscReal K(const Problem *p, const PetscReal x[])
{
  PetscReal k = 1;

  for (PetscInt d = 0; d < p->dim; d++) k += p->vary * PetscSinReal(2 * PETSC_PI * x[d]) / p->dim;
  return k;
}

static PetscReal U(const Problem *p, const PetscReal x[])
{
  PetscReal u = 1;

  for (PetscInt d = 0; d < p->dim; d++) u *= Factor(p, d, x[d], 0);
  return u;
}

static PetscReal F(const Problem *p, const PetscReal x[])
{
  PetscReal f = 0;

  for (PetscInt d = 0; d < p->dim; d++) {
    PetscReal others = 1;

    for (PetscInt e = 0; e < p->dim; e++) others *= e == d ? 1 : Factor(p, e, x[e], 0);
    f -= others * (K(p, x) * Factor(p, d, x[d], 2) +
                   2 * PETSC_PI * p->vary / p->dim * PetscCosReal(2 * PETSC_PI * x[d]) * Factor(p, d, x[d], 1));
  }
  return f;
}

static PetscBool IsStored(const Problem *p, const PetscInt at[])
{
  for (PetscInt d = 0; d < p->dim && p->wall == WALL_STORED; d++) {
    if (at[d] == 0 || at[d] == p->n - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscReal Volume(const Problem *p, const PetscInt at[], PetscInt but)
{
  PetscReal v = 1;

  for (PetscInt d = 0; d < p->dim && p->wall == WALL_VERTICES; d++)
    v *= d != but && (at[d] == 0 || at[d] == p->n - 1) ? 0.5 : 1;
  return v;
}

/* Row, right side and solution of a point */
static PetscErrorCode Row(const Problem *p, const PetscInt at[], Mat A, PetscScalar *b, PetscScalar *u)
{
  PetscReal   x[3] = {Place(p, at[0]), Place(p, at[1]), Place(p, at[2])};
  MatStencil  row  = {at[2], at[1], at[0], 0}, col[7];
  PetscScalar v[7] = {0};
  PetscInt    m    = 1;

  PetscFunctionBeginUser;
  col[0] = row;
  *u     = U(p, x);
  *b     = p->h * p->h * Volume(p, at, -1) * F(p, x);
  for (PetscInt d = 0; d < p->dim && !IsStored(p, at); d++) {
    for (PetscInt side = -1; side <= 1; side += 2) {
      PetscInt        to[3]   = {at[0], at[1], at[2]};
      const PetscReal here    = x[d];
      const PetscBool outside = (PetscBool)(at[d] + side < 0 || at[d] + side >= p->n);
      PetscReal       c;

      if (outside && (p->wall == WALL_CELLS || p->wall == WALL_VERTICES)) continue;
      to[d] += side;
      x[d] += side * p->h / 2;
      c = K(p, x) * Volume(p, at, d);
      x[d] += side * p->h / 2;
      v[0] += c;
      if ((outside && p->wall == WALL_ELIMINATED) || IsStored(p, to)) *b += c * U(p, x);
      else {
        col[m].i = to[0];
        col[m].j = to[1];
        col[m].k = to[2];
        col[m].c = 0;
        v[m++]   = -c;
      }
      x[d] = here;
    }
  }
  if (m == 1 && IsStored(p, at)) {
    v[0] = 2 * p->dim;
    *b   = v[0] * *u;
  }
  PetscCall(MatSetValuesStencil(A, 1, &row, m, col, v, INSERT_VALUES));
  PetscFunctionReturn(0);
}

/* The mean of a vector, weighted, comes to zero: in the manner of right sides, or of solutions */
static PetscErrorCode Shift(Vec v, Vec volume, PetscBool right)
{
  PetscScalar sum, all;

  PetscFunctionBeginUser;
  PetscCall(VecSum(volume, &all));
  if (right) {
    PetscCall(VecSum(v, &sum));
    PetscCall(VecAXPY(v, -sum / all, volume));
  } else {
    PetscCall(VecDot(v, volume, &sum));
    PetscCall(VecShift(v, -sum / all));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Assemble(const Problem *p, DM da, Mat A, Vec b, Vec u, Vec volume)
{
  PetscInt     s[3], w[3], at[3], i = 0;
  PetscScalar *ba, *ua, *va;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &s[0], &s[1], &s[2], &w[0], &w[1], &w[2]));
  PetscCall(VecGetArrayWrite(b, &ba));
  PetscCall(VecGetArrayWrite(u, &ua));
  PetscCall(VecGetArrayWrite(volume, &va));
  FOR_BOX(at, s, w) {
    va[i] = Volume(p, at, -1);
    PetscCall(Row(p, at, A, &ba[i], &ua[i]));
    i++;
  }
  PetscCall(VecRestoreArrayWrite(volume, &va));
  PetscCall(VecRestoreArrayWrite(u, &ua));
  PetscCall(VecRestoreArrayWrite(b, &ba));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateDM(const Problem *p, DM *da)
{
  const DMBoundaryType t = p->wall == WALL_PERIODIC ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;

  PetscFunctionBeginUser;
  PetscCall(MakeDM(PETSC_COMM_WORLD, p->dim, (PetscInt[]){p->n, p->n, p->n}, t, DMDA_STENCIL_STAR, da));
  if (p->wall == WALL_CELLS) PetscCall(DMDASetInterpolationType(*da, DMDA_Q0));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(0);
}

static PetscErrorCode ErrorOf(const Problem *p, Vec x, Vec u, Vec volume, PetscReal *error)
{
  PetscFunctionBeginUser;
  PetscCall(VecAXPY(x, -1, u));
  if (p->wall >= WALL_CELLS) PetscCall(Shift(x, volume, PETSC_FALSE));
  PetscCall(VecNorm(x, NORM_INFINITY, error));
  PetscFunctionReturn(0);
}

/* One application of full multigrid, or the solution of the discrete equations */
static PetscErrorCode Solve(Mat A, PCKCycleFMGInterpolationType interpolation, PetscBool once, Vec b, Vec x)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MakeKSP(A, once ? KSPPREONLY : KSPFGMRES, PCKCYCLE, &ksp, &pc));
  PetscCall(KSPSetTolerances(ksp, 1e-11, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(PCKCycleSetFMGInterpolation(pc, interpolation));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* In the maximum norm: of one application, and of the solution of the discrete equations */
static PetscErrorCode Errors(const Problem *p, PCKCycleFMGInterpolationType interpolation, PetscReal error[2])
{
  DM  da;
  Mat A;
  Vec b, u, x, volume;

  PetscFunctionBeginUser;
  PetscCall(CreateDM(p, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(DuplicateVec(b, &u, &x, &volume));
  PetscCall(Assemble(p, da, A, b, u, volume));
  if (p->wall >= WALL_CELLS) PetscCall(Shift(b, volume, PETSC_TRUE));
  for (int i = 0; i < 2; i++) {
    PetscCall(Solve(A, interpolation, (PetscBool)(i == 0), b, x));
    PetscCall(ErrorOf(p, x, u, volume, &error[i]));
  }
  PetscCall(DestroyAll(&volume, &u, &b, &x, &A, &da));
  PetscFunctionReturn(0);
}

/* Three sizes. Linear interpolation takes what lies beyond walls for zero, so that u has to be zero there */
static PetscErrorCode Order(PetscInt dim, Wall wall, PetscReal vary, PCKCycleFMGInterpolationType interpolation,
                            PetscBool holds[2])
{
  const PetscBool linear = (PetscBool)(interpolation == PC_KCYCLE_FMG_LINEAR);
  PetscReal       error[3][2];

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 3; i++) {
    const PetscInt cells = (dim == 3 ? 8 : 16) << i;
    const PetscInt n     = wall == WALL_ELIMINATED ? cells - 1 : cells + (wall == WALL_STORED || wall == WALL_VERTICES);
    const Problem  p     = {dim, n, wall, vary, 1.0 / cells, (PetscBool)(linear && wall <= WALL_STORED)};

    PetscCall(Errors(&p, interpolation, error[i]));
    if (Given("-show"))
      PetscCall(Print("  %" PetscInt_FMT "D, %s, k %g, n %3" PetscInt_FMT ": %s %.3e, discrete solution %.3e\n", dim,
                      Walls[wall], (double)vary, p.n, PCKCycleFMGInterpolationTypes[interpolation], (double)error[i][0],
                      (double)error[i][1]));
  }
  if (error[2][0] > 4 * error[2][1]) holds[1] = PETSC_FALSE;
  /* errors that happen to be below those of the discretisation are not counted on */
  for (int i = 0; i < 2; i++) error[i][0] = PetscMax(error[i][0], error[i][1]);
  if (error[0][0] < 6.5 * error[2][0] || error[1][0] < 2.7 * error[2][0]) holds[0] = PETSC_FALSE;
  PetscFunctionReturn(0);
}

/* The largest difference, which a becomes */
static PetscErrorCode Differ(Vec a, Vec b, PetscReal *difference)
{
  PetscFunctionBeginUser;
  PetscCall(VecAXPY(a, -1, b));
  PetscCall(VecNorm(a, NORM_INFINITY, difference));
  PetscFunctionReturn(0);
}

/* What options have chosen, and a right side that is given: that of the finest level, restricted, changes nothing */
static PetscErrorCode Functions(void)
{
  const Problem                p = {2, 31, WALL_ELIMINATED, 0.5, 1.0 / 32, PETSC_FALSE};
  PCKCycleFMGInterpolationType interpolation;
  PetscBool                    monitor, profile;
  PetscReal                    norm, difference;
  PetscInt                     nlevels;
  DM                           da;
  Mat                          A, P;
  Vec                          b, u, x[3], volume, given, got;
  PC                           pc;

  PetscFunctionBeginUser;
  PetscCall(CreateDM(&p, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(DuplicateVec(b, &u, &volume));
  for (int i = 0; i < 3; i++) PetscCall(VecDuplicate(b, &x[i]));
  PetscCall(Assemble(&p, da, A, b, u, volume));
  PetscCall(DestroyAll(&u, &volume));
  PetscCall(MakePC(A, PCKCYCLE, &pc));
  PetscCall(PCMGSetType(pc, PC_MG_FULL));
  PetscCall(PCKCycleSetProcEqLim(pc, 0));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(PCKCycleGetFMGInterpolation(pc, &interpolation));
  PetscCall(PCKCycleGetFMGMonitor(pc, &monitor));
  PetscCall(PCKCycleGetProfile(pc, &profile));
  PetscCall(Claim(interpolation == PC_KCYCLE_FMG_CUBIC && monitor && profile,
                  "options have chosen cubic interpolation, the monitor and the profile"));
  PetscCall(PCApply(pc, b, x[0]));
  PetscCall(PCKCycleSetFMGMonitor(pc, PETSC_FALSE));
  PetscCall(PCApply(pc, b, x[1]));
  PetscCall(PCMGGetLevels(pc, &nlevels));
  PetscCall(PCMGGetInterpolation(pc, nlevels - 1, &P));
  PetscCall(MatCreateVecs(P, &given, NULL));
  PetscCall(MatMultTranspose(P, b, given));
  PetscCall(PCKCycleSetFMGRhs(pc, nlevels - 2, given));
  PetscCall(PCKCycleGetFMGRhs(pc, nlevels - 2, &got));
  PetscCall(PCApply(pc, b, x[2]));
  PetscCall(VecNorm(x[1], NORM_INFINITY, &norm));
  for (int i = 0; i < 3; i += 2) {
    PetscCall(Differ(x[i], x[1], &difference));
    PetscCall(
        Claim(difference <= 1e-13 * norm && got == given,
              i ? "a right side that was restricted before gives the same answer" : "who watches changes nothing"));
  }
  PetscCall(VecScale(given, 2));
  PetscCall(PCApply(pc, b, x[2]));
  PetscCall(Differ(x[2], x[1], &difference));
  PetscCall(Claim(difference > 1e-3 * norm, "another one gives another"));
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&x[i]));
  PetscCall(DestroyAll(&given, &b, &pc, &A, &da));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscInt from = 2, to = 3;

  PetscFunctionBeginUser;
  PetscCall(TestInitialize(&argc, &argv, help));
  if (Given("-functions")) {
    PetscCall(Functions());
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-from", &from, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-to", &to, NULL));
  for (int wall = 0; wall < NUM_WALLS; wall++) {
    for (int i = 0; i < 2; i++) {
      PetscBool holds[2] = {PETSC_TRUE, PETSC_TRUE};

      for (PetscInt dim = from; dim <= to; dim++) {
        for (int vary = 0; vary < 2; vary++)
          PetscCall(Order(dim, (Wall)wall, vary * 0.5, (PCKCycleFMGInterpolationType)i, holds));
      }
      PetscCall(Print("%s, %s interpolation\n", Walls[wall], PCKCycleFMGInterpolationTypes[i]));
      PetscCall(Claim(holds[0], "  of order 2 in the maximum norm"));
      PetscCall(Claim(holds[1], "  near the discrete solution"));
    }
  }
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/fmgorder.out

    test:
      suffix: one

    test:
      suffix: kappa
      args: -to 2 -pc_kcycle_kappa 2

    test:
      suffix: cut
      nsize: 4
      args: -to 2 -pc_kcycle_process_eq_limit 0

    test:
      suffix: gathered
      nsize: 3
      args: -from 3

  test:
    suffix: functions
    nsize: {{1 2}}
    args: -functions -pc_kcycle_fmg_interpolation cubic -pc_kcycle_fmg_monitor -pc_kcycle_profile ascii:/dev/null:ascii_csv
    filter: sed -e "s/, algebraic.*$//"

  testset:
    output_file: output/fmgorder.out

    test:
      suffix: objects
      args: -to 2 -mg_levels_ksp_richardson_scale 0.9999

TEST*/
