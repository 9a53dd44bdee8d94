/*
  PCFASTPOISSON: tridiagonal systems of the last direction, one for each mode of the others, by elimination without
  pivots; all are definite.

  Many systems at a time: number l of the unknowns of point k is at k * width + l. The pivots of each are computed anew,
  which is cheaper than to read them from memory.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)

  #define KC_MODES 128 /* at a time, at most */

/* Systems whose right sides are from, along numbers from point to point apart; so are solutions in to. z, inverse:
   buffers */
KC_VERSIONS static void Eliminate(const KCycleFPDirection *dir, const PetscReal *factor,
                                  const PetscReal *KC_RESTRICT shift, const PetscInt lines[], const PetscScalar *from,
                                  PetscScalar *z, PetscScalar *inverse)
{
  const PetscInt m = lines[0], along = lines[1], width = dir->width;

  for (PetscInt k = 0; k < dir->n; k++) {
    const PetscScalar *r = from + k * along; /* or where zk is */
    PetscScalar *zk = z + k * width, *KC_RESTRICT ik = inverse + k * width;
    const PetscReal mid = dir->mid[k], s = factor[k];

    if (!k) {
      KC_IVDEP
      for (PetscInt l = 0; l < m; l++) {
        ik[l] = KCycleFPInversePivot(mid + shift[l], 0, 0);
        zk[l] = KCycleFPEliminate(r[l] * s, 0, 0, ik[l]);
      }
    } else {
      const PetscScalar *zj = zk - width, *ij = ik - width;
      const PetscReal    low = dir->low[k], both = low * dir->up[k - 1];

      KC_IVDEP
      for (PetscInt l = 0; l < m; l++) {
        ik[l] = KCycleFPInversePivot(mid + shift[l], both, ij[l]);
        zk[l] = KCycleFPEliminate(r[l] * s, low, zj[l], ik[l]);
      }
    }
  }
}

KC_VERSIONS static void Substitute(const KCycleFPDirection *dir, const PetscInt lines[], PetscScalar *z,
                                   const PetscScalar *inverse, PetscScalar *to)
{
  const PetscInt m = lines[0], along = lines[1], width = dir->width, n = dir->n;

  for (PetscInt l = 0; l < m; l++) to[(n - 1) * along + l] = z[(n - 1) * width + l];
  for (PetscInt k = n - 2; k >= 0; k--) {
    const PetscScalar *zk = z + k * width, *ik = inverse + k * width, *ahead = to + (k + 1) * along;
    const PetscReal    up = dir->up[k];
    PetscScalar       *x  = to + k * along; /* or where zk is */

    KC_IVDEP
    for (PetscInt l = 0; l < m; l++) x[l] = KCycleFPSubstitute(zk[l], up, ik[l], ahead[l]);
  }
}

/* The mean of a line, with W, is taken off */
static void RemoveMean(const KCycleFPDirection *dir, PetscScalar *v)
{
  PetscReal sum = 0, weight = 0;

  for (PetscInt k = 0; k < dir->n; k++) {
    sum += dir->w[k] * v[k];
    weight += dir->w[k];
  }
  for (PetscInt k = 0; k < dir->n; k++) v[k] -= sum / weight;
}

/* The system of the constant mode: what its right side has in the kernel is left out, and so is that of the solution.
   from -> to, both n numbers, stride apart; the last unknown is zero first */
static void SolveSingular(const KCycleFPDirection *dir, PetscScalar *v, PetscScalar *inverse)
{
  const PetscInt n = dir->n;

  RemoveMean(dir, v);
  for (PetscInt k = 0; k < n - 1; k++) {
    inverse[k] = 1 / (dir->mid[k] - (k ? dir->low[k] * dir->up[k - 1] * inverse[k - 1] : 0));
    v[k]       = (v[k] - (k ? dir->low[k] * v[k - 1] : 0)) * inverse[k];
  }
  v[n - 1] = 0;
  for (PetscInt k = n - 2; k >= 0; k--) v[k] -= dir->up[k] * inverse[k] * v[k + 1];
  RemoveMean(dir, v);
}

/* Lines that are no neighbours in memory go through the buffer */
static void Collect(const KCycleFPDirection *dir, const PetscScalar *v, PetscInt across, PetscInt along, PetscInt lines,
                    PetscScalar *to)
{
  for (PetscInt l = 0; l < lines; l++) {
    for (PetscInt k = 0; k < dir->n; k++) to[k * dir->width + l] = v[l * across + k * along];
  }
}

static void Distribute(const KCycleFPDirection *dir, PetscScalar *v, PetscInt across, PetscInt along, PetscInt lines,
                       const PetscScalar *from)
{
  for (PetscInt l = 0; l < lines; l++) {
    for (PetscInt k = 0; k < dir->n; k++) v[l * across + k * along] = from[k * dir->width + l];
  }
}

/* Some systems; singular: the number of the one that is, or -1 */
static void SolveSome(const PC_FastPoisson *fp, const KCycleFPView *in, const KCycleFPView *out, const int da[],
                      PetscInt lines, PetscReal shift[], PetscInt singular)
{
  const KCycleFPDirection *dir = &fp->dir[da[0]];
  const PetscInt     ia = in->stride[da[1]], id = in->stride[da[0]], oa = out->stride[da[1]], od = out->stride[da[0]];
  PetscScalar       *z = fp->buffer[0], *inverse = fp->buffer[1], *line = fp->line;
  const PetscScalar *from    = in->v;
  PetscInt           size[2] = {lines, id};

  if (singular >= 0) {
    for (PetscInt k = 0; k < dir->n; k++) line[k] = in->v[singular * ia + k * id] * fp->factor[k];
    shift[singular] = fp->scale != 0 ? fp->scale : 1; /* any that does no harm */
  }
  if (ia != 1) {
    Collect(dir, in->v, ia, id, lines, z);
    from    = z;
    size[1] = dir->width;
  }
  Eliminate(dir, fp->factor, shift, size, from, z, inverse);
  size[1] = oa == 1 ? od : dir->width;
  Substitute(dir, size, z, inverse, oa == 1 ? out->v : z);
  if (oa != 1) Distribute(dir, out->v, oa, od, lines, z);
  if (singular >= 0) {
    SolveSingular(dir, line, inverse);
    for (PetscInt k = 0; k < dir->n; k++) out->v[singular * oa + k * od] = line[k];
  }
}

/* The last direction, for all modes of this process */
void KCycleFPSystems(const PC_FastPoisson *fp, const KCycleFPView *in, const KCycleFPView *out)
{
  const int                d   = fp->order[fp->nstages - 1];
  const KCycleBox         *l   = &fp->layout[fp->nstages - 1];
  const KCycleFPDirection *dir = &fp->dir[d];
  PetscReal                shift[KC_MODES];
  int                      a, b;

  KCycleFPLines(l->n, d, &a, &b);
  for (PetscInt ib = 0; ib < l->n[b]; ib++) {
    for (PetscInt ia = 0; ia < l->n[a]; ia += dir->width) {
      const PetscInt     lines    = PetscMin(dir->width, l->n[a] - ia);
      const int          da[2]    = {d, a};
      const KCycleFPView from     = {in->v + ia * in->stride[a] + ib * in->stride[b],
                                     {in->stride[0], in->stride[1], in->stride[2]}};
      const KCycleFPView to       = {out->v + ia * out->stride[a] + ib * out->stride[b],
                                     {out->stride[0], out->stride[1], out->stride[2]}};
      PetscInt           singular = -1;

      for (PetscInt q = 0; q < lines; q++) {
        shift[q] = fp->dir[a].lambda[l->start[a] + ia + q] + (fp->dir[b].lambda[l->start[b] + ib] + fp->sigma);
        if (fp->singular && shift[q] == 0) singular = q;
      }
      SolveSome(fp, &from, &to, da, lines, shift, singular);
    }
  }
}
#endif
