/*
  PCFASTPOISSON: how each direction is solved, and with which numbers.

  The last direction is that whose systems are tridiagonal, if there is one; before that, all others are transformed,
  or multiplied by eigenvectors. With S = W^1/2 M W^-1/2 = Q Lambda Q^T the matrices of these products are

      points to modes  Q^T W^1/2 D^-1       modes to points  W^-1/2 Q

  (R. E. Lynch, J. R. Rice, D. H. Thomas, Direct solution of partial difference equations by tensor product methods,
  Numer. Math. 6, 1964).
*/
#include "fastpoissonimpl.h"
#include <petscblaslapack.h>

#if defined(KCYCLE_HAVE_FASTPOISSON)

  /* Eigenvectors lose half the digits of what W spreads over */
  #define KC_SPREAD 1e6

  #define KC_FEW_SYSTEMS 16384 /* an estimate */

/* Pivots of the tridiagonal system of a direction with that shift have all this sign? The last one may be zero */
static PetscBool IsDefinite(const KCycleFPDirection *dir, PetscReal shift, PetscReal sign, PetscBool singular)
{
  PetscReal pivot = 0;

  for (PetscInt i = 0; i < dir->n; i++) {
    pivot = dir->mid[i] + shift - (i ? dir->low[i] * dir->up[i - 1] / pivot : 0);
    if (i == dir->n - 1 && singular) return PETSC_TRUE;
    if (!(sign * pivot > 4 * PETSC_MACHINE_EPSILON * PetscAbsReal(dir->mid[i] + shift))) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

static PetscBool MayBeTridiagonal(const KCycleFPDirection *dir)
{
  return (PetscBool)(dir->n > 1 && !dir->periodic);
}

/* On a device a thread solves a system: few systems keep it waiting, and it transforms instead */
static PetscBool HasFewSystems(const PC_FastPoisson *fp, const KCycleFPDirection *dir)
{
  const PetscInt64 points = (PetscInt64)fp->dir[0].n * fp->dir[1].n * fp->dir[2].n;

  return (PetscBool)(fp->fordevice && points / dir->n < KC_FEW_SYSTEMS);
}

/* The direction that gains most: without a transform the longest one, else the one that is slowest in memory */
static PetscErrorCode ChooseLast(PC pc, int *last)
{
  PC_FastPoisson *fp    = (PC_FastPoisson *)pc->data;
  const int       asked = fp->tridiagonal - PC_FASTPOISSON_TRIDIAGONAL_X;

  PetscFunctionBegin;
  *last = -1;
  if (fp->tridiagonal == PC_FASTPOISSON_TRIDIAGONAL_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  if (asked >= 0) {
    PetscCheck(asked < fp->box->dim && (fp->dir[asked].n == 1 || MayBeTridiagonal(&fp->dir[asked])),
               PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "Systems in direction %c are not tridiagonal, as it is %s: use -pc_fastpoisson_tridiagonal auto",
               "xyz"[asked], asked < fp -> box -> dim ? "periodic" : "no direction of the grid");
    *last = asked;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int d = 0; d < 3; d++) {
    const KCycleFPDirection *dir = &fp->dir[d], *best = *last < 0 ? NULL : &fp->dir[*last];
    const PetscBool          one = (PetscBool)!KCycleFPKindOf(dir);

    if (!MayBeTridiagonal(dir) || (!one && HasFewSystems(fp, dir))) continue;
    if (!best || (one && KCycleFPKindOf(best)) || (one == !KCycleFPKindOf(best) && (!one || dir->n >= best->n)))
      *last = d;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S of a direction, and its eigenvectors, by columns in dir->back */
static PetscErrorCode FindVectors(KCycleFPDirection *dir)
{
  const PetscInt n = dir->n;
  PetscBLASInt   bn, info, lwork;
  PetscReal     *off, *work, *root;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  PetscCall(PetscBLASIntCast(34 * n, &lwork));
  PetscCall(PetscMalloc3(n, &off, 34 * n, &work, n, &root));
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt next = (i + 1) % n;

    dir->lambda[i] = dir->mid[i];
    root[i]        = PetscSqrtReal(dir->w[i]);
    off[i]         = PetscSqrtReal(dir->up[i] * dir->low[next]) * (dir->up[i] < 0 ? -1 : 1);
  }
  if (!dir->periodic)
    PetscCallBLAS("LAPACKREALsteqr", LAPACKREALsteqr_("I", &bn, dir->lambda, off, dir->back, &bn, work, &info));
  else {
    PetscCall(PetscArrayzero(dir->back, n * n));
    for (PetscInt i = 0; i < n; i++) {
      const PetscInt next = (i + 1) % n, a = PetscMin(i, next), b = PetscMax(i, next);

      dir->back[i * n + i] = dir->mid[i];
      dir->back[a * n + b] = off[i]; /* the lower triangle */
    }
    PetscCallBLAS("LAPACKsyev", LAPACKsyev_("V", "L", &bn, dir->back, &bn, dir->lambda, work, &lwork, &info));
  }
  PetscCheck(!info, PETSC_COMM_SELF, PETSC_ERR_LIB, "LAPACK finds no eigenvectors of a direction: info %d", (int)info);
  for (PetscInt k = 0; k < n; k++) {
    for (PetscInt i = 0; i < n; i++) {
      dir->ahead[i * n + k] = dir->back[k * n + i] * root[i] / dir->d[i];
      dir->back[k * n + i] /= root[i];
    }
  }
  PetscCall(PetscFree3(off, work, root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constants are in the kernel: to the last digit, rounding or not */
static void MakeClosed(KCycleFPDirection *dir)
{
  PetscInt zero = 0;

  if (!dir->closed) return;
  for (PetscInt k = 1; k < dir->n; k++) {
    if (PetscAbsReal(dir->lambda[k]) < PetscAbsReal(dir->lambda[zero])) zero = k;
  }
  dir->lambda[zero] = 0;
}

/* Eigenvalues, and for what is no transform the vectors */
static PetscErrorCode Diagonalise(PC pc, int d)
{
  PC_FastPoisson    *fp  = (PC_FastPoisson *)pc->data;
  KCycleFPDirection *dir = &fp->dir[d];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(dir->n, &dir->lambda));
  dir->kind = KCycleFPKindOf(dir);
  if (dir->n == 1) {
    dir->method    = KCYCLE_FP_SINGLE;
    dir->lambda[0] = dir->mid[0];
  } else if (dir->kind) {
    dir->method = KCYCLE_FP_TRANSFORM;
    KCycleFPTransformSpectrum(dir);
  } else {
    PetscCheck(
        dir->spread <= KC_SPREAD, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
        "Couplings back and forth in direction %c differ so much that scaling which makes them equal spreads over "
        "a factor of %g, and %g is what eigenvectors bear: use -pc_fastpoisson_tridiagonal %c, or -pc_type kcycle",
        "xyz"[d], (double)dir -> spread, (double)KC_SPREAD, "xyz"[d]);
    dir->method = KCYCLE_FP_VECTORS;
    PetscCall(PetscMalloc2(dir->n * dir->n, &dir->ahead, dir->n * dir->n, &dir->back));
    PetscCall(FindVectors(dir));
    MakeClosed(dir);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 / D, where it is not 1 nor in the vectors already */
static PetscErrorCode MakeBefore(KCycleFPDirection *dir)
{
  PetscBool one = PETSC_TRUE;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < dir->n; i++) one = (PetscBool)(one && dir->d[i] == 1);
  if (one || dir->method == KCYCLE_FP_VECTORS) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(dir->n, &dir->before));
  for (PetscInt i = 0; i < dir->n; i++) dir->before[i] = 1 / dir->d[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines at a time, so that both buffers stay in the cache */
static void ChooseWidth(PC_FastPoisson *fp, KCycleFPDirection *dir)
{
  const PetscInt fit = PetscMax(8, PetscMin(128, 16384 / dir->n / 8 * 8));

  dir->pitch  = dir->method == KCYCLE_FP_TRIDIAGONAL ? dir->n : (dir->n + 7) / 8 * 8;
  dir->width  = dir->method == KCYCLE_FP_TRANSFORM ? (dir->n < 512 ? 16 : 8) : fit;
  fp->nbuffer = PetscMax(fp->nbuffer, dir->width * dir->pitch);
}

/* Stages: directions that processes do not cut come first, as these need no exchange; the last one is last */
static void MakeOrder(PC_FastPoisson *fp, int last)
{
  fp->nstages = 0;
  for (int cut = 0; cut < 2; cut++) {
    for (int d = 0; d < 3; d++) {
      if (d != last && fp->dir[d].n > 1 && (fp->box->nproc[d] > 1) == cut) fp->order[fp->nstages++] = d;
    }
  }
  if (last >= 0) fp->order[fp->nstages++] = last;
}

/* Multiplications and additions of this process: a transform counts 5/2 n log2 n, as FFTW's authors do */
static void CountFlops(PC_FastPoisson *fp)
{
  fp->flops[0] = fp->flops[1] = 0;
  for (int s = 0; s < fp->nstages; s++) {
    const KCycleFPDirection *dir   = &fp->dir[fp->order[s]];
    const PetscLogDouble     lines = (PetscLogDouble)fp->layout[s].npoints / PetscMax(dir->n, 1);

    if (dir->method == KCYCLE_FP_TRANSFORM) fp->flops[0] += lines * 5 * dir->n * PetscLog2Real(dir->n);
    if (dir->method == KCYCLE_FP_VECTORS) fp->flops[0] += lines * 4 * dir->n * dir->n;
    fp->flops[1] += dir->method == KCYCLE_FP_TRIDIAGONAL ? 10 * lines * dir->n
                    : s == fp->nstages - 1               ? 3 * lines * dir->n
                                                         : 0;
  }
}

/* Are the systems definite that direction last is left with? */
static PetscErrorCode CheckLast(PC pc, int *last)
{
  PC_FastPoisson *fp    = (PC_FastPoisson *)pc->data;
  const PetscReal sign  = fp->scale < 0 ? -1 : 1;
  PetscReal       shift = fp->sigma;
  PetscBool       fine;

  PetscFunctionBegin;
  if (*last < 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 3; d++) {
    PetscReal least = PETSC_MAX_REAL; /* eigenvalue */

    if (d == *last) continue;
    for (PetscInt i = 0; i < fp->dir[d].n; i++) least = PetscMin(least, sign * fp->dir[d].lambda[i]);
    shift += sign * least;
  }
  fine = IsDefinite(&fp->dir[*last], shift, sign, (PetscBool)(fp->singular && shift == 0));
  PetscCheck(
      fine || fp->tridiagonal == PC_FASTPOISSON_TRIDIAGONAL_AUTO, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
      "The operator is not definite, so that tridiagonal systems in direction %c may have no stable solution: use "
      "-pc_fastpoisson_tridiagonal none",
      "xyz"[*last]);
  if (fine) fp->dir[*last].method = KCYCLE_FP_TRIDIAGONAL;
  else {
    PetscCall(Diagonalise(pc, *last));
    *last = -1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the last direction are divided by D and by what the transforms multiply by */
static PetscErrorCode MakeFactors(PC_FastPoisson *fp)
{
  const KCycleFPDirection *dir = &fp->dir[fp->order[fp->nstages - 1]];

  PetscFunctionBegin;
  fp->norm = 1;
  for (int s = 0; s < fp->nstages; s++) fp->norm /= fp->dir[fp->order[s]].norm;
  PetscCall(PetscMalloc2(dir->n, &fp->factor, dir->n, &fp->line));
  for (PetscInt i = 0; i < dir->n; i++) fp->factor[i] = fp->norm / dir->d[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void FindSize(PC_FastPoisson *fp)
{
  fp->size = PetscAbsReal(fp->sigma);
  for (int d = 0; d < 3; d++) {
    PetscReal most = 0;

    for (PetscInt i = 0; i < fp->dir[d].n; i++)
      most = PetscMax(most, PetscAbsReal(fp->dir[d].low[i]) + PetscAbsReal(fp->dir[d].mid[i]) +
                                PetscAbsReal(fp->dir[d].up[i]));
    fp->size += most;
  }
}

/* From the operator to plans, vectors and layouts */
PetscErrorCode PCFastPoissonChoose(PC pc)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;
  int             last;

  PetscFunctionBegin;
  fp->singular = (PetscBool)(fp->sigma == 0);
  for (int d = 0; d < 3; d++) {
    fp->singular    = (PetscBool)(fp->singular && fp->dir[d].closed);
    fp->dir[d].norm = 1;
  }
  FindSize(fp);
  PetscCall(ChooseLast(pc, &last));
  for (int d = 0; d < 3; d++) {
    if (d != last) PetscCall(Diagonalise(pc, d));
  }
  PetscCall(CheckLast(pc, &last));
  if (last < 0 && fp->dir[0].n * fp->dir[1].n * fp->dir[2].n == 1) {
    last                 = 0; /* one point: its system is tridiagonal, too */
    fp->dir[last].method = KCYCLE_FP_TRIDIAGONAL;
  }
  MakeOrder(fp, last);
  fp->nbuffer = 0;
  for (int s = 0; s < fp->nstages; s++) {
    ChooseWidth(fp, &fp->dir[fp->order[s]]);
    PetscCall(MakeBefore(&fp->dir[fp->order[s]]));
  }
  PetscCall(MakeFactors(fp));
  PetscCall(PetscCalloc2(fp->nbuffer, &fp->buffer[0], fp->nbuffer, &fp->buffer[1]));
  PetscCall(KCycleFPTransformCreate(pc));
  PetscCall(PCFastPoissonLayoutsCreate(pc));
  CountFlops(fp);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCFastPoissonDirectionsDestroy(PC_FastPoisson *fp)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    KCycleFPDirection *dir = &fp->dir[d];

    PetscCall(KCycleFPTransformDestroy(dir));
    PetscCall(PetscFree5(dir->low, dir->mid, dir->up, dir->d, dir->w));
    PetscCall(PetscFree2(dir->ahead, dir->back));
    PetscCall(PetscFree(dir->lambda));
    PetscCall(PetscFree(dir->before));
    PetscCall(PetscMemzero(dir, sizeof(*dir)));
  }
  PetscCall(PetscFree2(fp->factor, fp->line));
  PetscCall(PetscFree2(fp->buffer[0], fp->buffer[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One line of the view */
PetscErrorCode PCFastPoissonDescribe(const PC_FastPoisson *fp, int d, size_t len, char text[])
{
  static const char *const ends[] = {"Dirichlet", "Dirichlet at half a cell", "Neumann at half a cell", "Neumann"};
  const KCycleFPDirection *dir    = &fp->dir[d];
  const char *const methods[] = {"one point", dir->kind ? dir->kind->name : "", "eigenvectors", "tridiagonal systems"};
  char              kind[128], stored[64] = "";

  PetscFunctionBegin;
  if (dir->constant && dir->periodic) PetscCall(PetscStrncpy(kind, "constant, periodic", sizeof(kind)));
  else if (dir->constant)
    PetscCall(PetscSNPrintf(kind, sizeof(kind), "constant, %s to %s", ends[dir->end[0]], ends[dir->end[1]]));
  else PetscCall(PetscSNPrintf(kind, sizeof(kind), "%s", dir->periodic ? "arbitrary, periodic" : "arbitrary"));
  if (dir->n < dir->size)
    PetscCall(PetscSNPrintf(stored, sizeof(stored), ", stored ends %d", (int)(dir->size - dir->n)));
  PetscCall(PetscSNPrintf(text, len, "%c: %" PetscInt_FMT " points, %s%s: %s", "xyz"[d], dir -> n, kind, stored,
                          methods[dir->method]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
