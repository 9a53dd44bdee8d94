/*
  PCFASTPOISSON: one solve.

  Lines of a direction are copied to a buffer, many at a time, transformed, and copied back: numbers come from
  memory once for each direction and way, or once for x and y together, plane by plane. The first stage reads the right
  side and writes the solution's array, all others work in that array.

      buffer    line 0 | line 1 | ...    pitch numbers apart
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

/* The two other directions; lines that follow each other in a should be neighbours in memory, and many */
void KCycleFPLines(const PetscInt n[], int d, int *a, int *b)
{
  *a = d == 0 ? 1 : 0;
  *b = d == 2 ? 1 : 2;
  if (n[*a] == 1) {
    const int c = *a;

    *a = *b;
    *b = c;
  }
}

/* Lines from an array, times s unless that is NULL */
KC_VERSIONS static void Gather(const PetscScalar *v, PetscInt across, PetscInt along, PetscInt lines,
                               const KCycleFPDirection *dir, const PetscReal *s, PetscScalar *KC_RESTRICT to)
{
  const PetscInt n = dir->n, pitch = dir->pitch;

  if (along == 1) {
    for (PetscInt l = 0; l < lines; l++) {
      const PetscScalar *KC_RESTRICT from = v + l * across;

      if (!s) (void)memcpy(to + l * pitch, from, (size_t)n * sizeof(*to));
      else {
        for (PetscInt p = 0; p < n; p++) to[l * pitch + p] = from[p] * s[p];
      }
    }
    return;
  }
  for (PetscInt p = 0; p < n; p++) {
    const PetscReal factor = s ? s[p] : 1;

    for (PetscInt l = 0; l < lines; l++) to[l * pitch + p] = v[p * along + l * across] * factor;
  }
}

KC_VERSIONS static void Scatter(PetscScalar *v, PetscInt across, PetscInt along, PetscInt lines,
                                const KCycleFPDirection *dir, const PetscScalar *KC_RESTRICT from)
{
  const PetscInt n = dir->n, pitch = dir->pitch;

  if (along == 1) {
    for (PetscInt l = 0; l < lines; l++) (void)memcpy(v + l * across, from + l * pitch, (size_t)n * sizeof(*v));
    return;
  }
  for (PetscInt p = 0; p < n; p++) {
    for (PetscInt l = 0; l < lines; l++) v[p * along + l * across] = from[l * pitch + p];
  }
}

/* Modes divided by their eigenvalues; those that are zero but for rounding have no part in the solution */
KC_VERSIONS static void Divide(const KCycleFPDirection *dir, PetscReal norm, PetscReal shift, PetscReal least,
                               PetscScalar *KC_RESTRICT v)
{
  const PetscReal *KC_RESTRICT lambda = dir->lambda;

  for (PetscInt p = 0; p < dir->n; p++) {
    v[p] *= KCycleFPInverseEigenvalue(lambda[p] + shift, norm, least);
  }
}

/* All lines of n points in direction d between two arrays. first: if the modes are divided by their eigenvalues and go
   back at once, coordinates of the first one; else NULL */
static void Transform(const PC_FastPoisson *fp, int d, int sense, const KCycleFPView *in, const KCycleFPView *out,
                      const PetscInt n[], const PetscInt first[])
{
  const KCycleFPDirection *dir   = &fp->dir[d];
  const PetscReal          least = 16 * PETSC_MACHINE_EPSILON * fp->size;
  int                      a, b;

  KCycleFPLines(n, d, &a, &b);
  for (PetscInt ib = 0; ib < n[b]; ib++) {
    const PetscReal other = first ? fp->sigma + fp->dir[b].lambda[first[b] + ib] : 0;

    for (PetscInt ia = 0; ia < n[a]; ia += dir->width) {
      const PetscInt lines = PetscMin(dir->width, n[a] - ia);

      Gather(in->v + ia * in->stride[a] + ib * in->stride[b], in->stride[a], in->stride[d], lines, dir,
             sense ? NULL : dir->before, fp->buffer[0]);
      KCycleFPKernel(fp, dir, sense, lines, fp->buffer[0], fp->buffer[1]);
      for (PetscInt q = 0; q < lines && first; q++)
        Divide(dir, fp->norm, fp->dir[a].lambda[first[a] + ia + q] + other, least, fp->buffer[1] + q * dir->pitch);
      if (first) KCycleFPKernel(fp, dir, 1, lines, fp->buffer[1], fp->buffer[0]);
      Scatter(out->v + ia * out->stride[a] + ib * out->stride[b], out->stride[a], out->stride[d], lines, dir,
              fp->buffer[first ? 0 : 1]);
    }
  }
}

PetscErrorCode PCFastPoissonLast(PC pc, const KCycleFPView *in, const KCycleFPView *out)
{
  PC_FastPoisson  *fp   = (PC_FastPoisson *)pc->data;
  const int        last = fp->order[fp->nstages - 1];
  const KCycleBox *l    = &fp->layout[fp->nstages - 1];

  PetscFunctionBegin;
  if (fp->dir[last].method == KCYCLE_FP_TRIDIAGONAL) KCycleFPSystems(fp, in, out);
  else Transform(fp, last, 0, in, out, l->n, l->start);
  PetscCall(PetscLogFlops(fp->flops[0] + fp->flops[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are stages s and s + 1 those of the planes of x and y, between the same arrays? Then each plane goes through both */
static PetscBool GoTogether(const PC_FastPoisson *fp, int s)
{
  return (PetscBool)(s + 2 < fp->nstages && fp->order[s] + fp->order[s + 1] == 1 && !fp->exchange[s + 1].nsend);
}

static KCycleFPView Plane(const KCycleFPView *view, PetscInt k)
{
  KCycleFPView plane = *view;

  plane.v += k * view->stride[2];
  return plane;
}

/* Two directions plane by plane, in this order */
PetscErrorCode PCFastPoissonTransform(PC pc, int n, const int d[], int sense, const KCycleFPView *in,
                                      const KCycleFPView *out, const KCycleBox *l)
{
  const PC_FastPoisson *fp       = (const PC_FastPoisson *)pc->data;
  const PetscInt        plane[3] = {l->n[0], l->n[1], 1};

  PetscFunctionBegin;
  if (n == 1) Transform(fp, d[0], sense, in, out, l->n, NULL);
  for (PetscInt k = 0; k < l->n[2] && n == 2; k++) {
    const KCycleFPView from = Plane(in, k), to = Plane(out, k);

    Transform(fp, d[0], sense, &from, &to, plane, NULL);
    Transform(fp, d[1], sense, &to, &to, plane, NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stages but the last, from points to modes. view: the arrays of each stage; view[-1] is out. Where the modes are */
static PetscErrorCode Ahead(PC pc, const KCycleFPOps *ops, const KCycleFPView *in, const KCycleFPView view[],
                            const KCycleFPView **at)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  *at = in;
  for (int s = 0; s < fp->nstages; s++) {
    const PetscBool both = GoTogether(fp, s);
    const int       d[2] = {fp->order[s], both ? fp->order[s + 1] : 0};

    if (fp->exchange[s].nsend) {
      PetscCall(PCFastPoissonExchange(pc, &fp->exchange[s], PETSC_FALSE, *at, &view[s]));
      *at = &view[s];
    }
    if (s == fp->nstages - 1) break;
    PetscCall(PetscLogEventBegin(PCFastPoissonEvents[KCYCLE_FP_TRANSFORMS], pc, 0, 0, 0));
    PetscCall((*ops->transform)(pc, both ? 2 : 1, d, 0, *at, &view[s], &fp->layout[s]));
    PetscCall(PetscLogEventEnd(PCFastPoissonEvents[KCYCLE_FP_TRANSFORMS], pc, 0, 0, 0));
    *at = &view[s];
    if (both) s++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* And from modes to points */
static PetscErrorCode Back(PC pc, const KCycleFPOps *ops, const KCycleFPView view[], const KCycleFPView *out)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  for (int s = fp->nstages - 1; s >= 0; s--) {
    const PetscBool both = (PetscBool)(s > 0 && s < fp->nstages - 1 && GoTogether(fp, s - 1));
    const int       d[2] = {fp->order[s], both ? fp->order[s - 1] : 0};

    if (s < fp->nstages - 1) {
      PetscCall(PetscLogEventBegin(PCFastPoissonEvents[KCYCLE_FP_TRANSFORMS], pc, 0, 0, 0));
      PetscCall((*ops->transform)(pc, both ? 2 : 1, d, 1, &view[s], &view[s], &fp->layout[s]));
      PetscCall(PetscLogEventEnd(PCFastPoissonEvents[KCYCLE_FP_TRANSFORMS], pc, 0, 0, 0));
    }
    if (both) s--;
    if (fp->exchange[s].nsend)
      PetscCall(PCFastPoissonExchange(pc, &fp->exchange[s], PETSC_TRUE, &view[s], s ? &view[s - 1] : out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of the core in an array of the DMDA's points of this process */
static KCycleFPView CoreView(const PC_FastPoisson *fp, PetscScalar *v)
{
  const PetscInt    *n    = fp->box->n;
  const KCycleFPView view = {v + KCycleFPCoreAt(fp), {1, n[0], n[0] * n[1]}};

  return view;
}

/* x = A^-1 b on the core; both may be the same array */
PetscErrorCode PCFastPoissonSolve(PC pc, const KCycleFPOps *ops, const PetscScalar *b, PetscScalar *x)
{
  PC_FastPoisson    *fp  = (PC_FastPoisson *)pc->data;
  const KCycleFPView out = CoreView(fp, x), *at;
  /* b is read by nothing but the first stage, which writes elsewhere or to x */
  const KCycleFPView in  = CoreView(fp, (PetscScalar *)b);
  KCycleFPView       view[3];

  PetscFunctionBegin;
  if (fp->empty) PetscFunctionReturn(PETSC_SUCCESS);
  for (int s = 0; s < fp->nstages; s++) {
    const PetscInt *n = fp->layout[s].n;

    if (fp->exchange[s].nsend) view[s] = (KCycleFPView){fp->array[s], {1, n[0], n[0] * n[1]}};
    else view[s] = s ? view[s - 1] : out;
  }
  PetscCall(Ahead(pc, ops, &in, view, &at));
  PetscCall(PetscLogEventBegin(PCFastPoissonEvents[KCYCLE_FP_SYSTEMS], pc, 0, 0, 0));
  PetscCall((*ops->last)(pc, at, &view[fp->nstages - 1]));
  PetscCall(PetscLogEventEnd(PCFastPoissonEvents[KCYCLE_FP_SYSTEMS], pc, 0, 0, 0));
  PetscCall(Back(pc, ops, view, &out));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
