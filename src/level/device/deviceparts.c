/*
  Parts of a level for tiles that do not march (parttilecuda.cu): how large they are, how many half sweeps a launch has,
  and whether that is faster than a launch for each.

  All of this follows from an estimate of the time: a launch takes as long as the shortest kernel, and a block as long
  as its barriers and so long for each point that is computed, rims included. Where there are more blocks than
  processors each one has several, one after the other. Large parts leave processors idle, small ones are mostly rims;
  many half sweeps save launches and have wide rims, which in 3D soon cost more.
*/
#include <petsckcycle/private/devicelevelimpl.h>

/* Points that a part may have in a direction, some parts fewer, so that all have the same size. No thresholds: each is
   tried */
static const PetscInt sizes[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};

static PetscInt Pieces(PetscInt n, PetscInt most)
{
  return (n + most - 1) / most;
}

/* Points of a part that are at that distance from its edge, or further */
static PetscReal Points(const KCycleCudaShares *s, PetscInt dim, PetscInt margin)
{
  PetscReal points = 1;

  for (PetscInt d = 0; d < dim; d++) points *= (PetscReal)(s->n[d] - 2 * margin);
  return points;
}

static PetscReal Seconds(const KCycleCudaShares *s, PetscInt dim, PetscInt processors, const KCycleTileKind *kind)
{
  const PetscInt from = kind->zeros ? 0 : 1, steps = kind->nhalf + (kind->restricts ? 3 : 1);
  PetscReal      points = Points(s, dim, 0);

  for (PetscInt h = 0; h < kind->nhalf; h++) points += Points(s, dim, h + from) / 2;
  if (kind->restricts) points += Points(s, dim, s->rim - 1) + Points(s, dim, s->rim);
  return KCYCLE_DEVICE_NODE + KCYCLE_DEVICE_KERNEL +
         (PetscReal)Pieces(s->parts[0] * s->parts[1] * s->parts[2], processors) *
             ((PetscReal)steps * KCYCLE_DEVICE_STEP + points * KCYCLE_DEVICE_POINT);
}

/* Parts that have at most that number of points in each direction */
static void ShareOut(const KCycleCudaTile *tile, PetscInt dim, const PetscInt most[3], KCycleCudaShares *s)
{
  for (PetscInt d = 0; d < 3; d++) {
    s->parts[d] = d < dim ? Pieces(tile->st.box.n[d], most[d]) : 1;
    s->own[d]   = Pieces(tile->st.box.n[d], s->parts[d]);
    s->n[d]     = s->own[d] + (d < dim ? 2 * s->rim : 0);
  }
  s->bytes = 2 * 2 * ((s->n[0] + 1) / 2) * s->n[1] * s->n[2] * (PetscInt)sizeof(KCScalar);
}

/* The parts that take the shortest time; false where none have room in a block */
static PetscBool Choose(const KCycleCudaTile *tile, const KCycleTileKind *kind, KCycleCudaShares *best,
                        PetscReal *seconds)
{
  const PetscInt   n = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(sizes), dim = tile->st.shape.ncoeffs == 7 ? 3 : 2;
  KCycleCudaShares s = *best;

  s.rim    = kind->nhalf - (kind->zeros ? 1 : 0) + (kind->restricts ? 2 : 0);
  *seconds = PETSC_MAX_REAL;
  for (PetscInt c = 0; c < n * n * (dim == 3 ? n : 1); c++) {
    const PetscInt most[3] = {sizes[c % n], sizes[c / n % n], sizes[c / (n * n)]};
    PetscReal      t;

    ShareOut(tile, dim, most, &s);
    t = Seconds(&s, dim, tile->limits.processors, kind);
    if (s.bytes > tile->limits.bytes || t >= *seconds) continue;
    *seconds = t;
    *best    = s;
  }
  if (*seconds == PETSC_MAX_REAL) return PETSC_FALSE;
  for (PetscInt m = 0; m <= s.rim; m++) {
    best->width[m] = KCycleDeviceDivisor(best->n[0] - 2 * m);
    best->pairs[m] = KCycleDeviceDivisor((best->n[0] - 2 * m + 1) / 2);
    best->rows[m]  = KCycleDeviceDivisor(best->n[1] - 2 * m);
  }
  return PETSC_TRUE;
}

/* The parts for a kind of launch */
KCycleCudaShares *KCycleDevicePartsOf(KCycleDeviceTile *t, const KCycleTileKind *kind)
{
  return &t->shares[kind->nhalf - 1][kind->zeros ? 1 : 0][kind->restricts ? 1 : 0];
}

/* Parts for all launches of that number of half sweeps, and the seconds of those that begin with x, without and with
   residual and restriction; false where some have no room */
static PetscBool ChooseAll(KCycleDeviceTile *t, PetscInt nhalf, PetscReal seconds[2])
{
  PetscBool fits = PETSC_TRUE;

  for (int i = 0; i < 4 && fits; i++) {
    const KCycleTileKind kind = {nhalf, i < 2 ? PETSC_TRUE : PETSC_FALSE, i % 2 ? PETSC_TRUE : PETSC_FALSE};

    fits = Choose(&t->tile, &kind, KCycleDevicePartsOf(t, &kind), &seconds[i % 2]);
  }
  return fits;
}

/* A launch for each half sweep of a visit with four sweeps down and four up, and three for the rest */
static PetscReal SecondsApart(const KCycleCudaBox *box)
{
  const PetscInt  launches = 4 * 4 + 3;
  const PetscReal seconds  = 3 * (PetscReal)box->npoints * (PetscReal)sizeof(KCScalar) / KCYCLE_DEVICE_BANDWIDTH;

  return (PetscReal)launches * (KCYCLE_DEVICE_NODE + PetscMax(KCYCLE_DEVICE_KERNEL, seconds));
}

/* The most half sweeps that a launch should have, by such a visit; 0: a launch for each is faster, or a block has too
   little shared memory */
PetscErrorCode KCycleDevicePartsCreate(KCycleDeviceTile *t, PetscInt *most)
{
  PetscReal best = SecondsApart(&t->tile.st.box), seconds[2];

  PetscFunctionBegin;
  *most = 0;
  for (PetscInt nhalf = 1; nhalf <= KC_CUDA_TILE && ChooseAll(t, nhalf, seconds); nhalf++) {
    const PetscReal all = (PetscReal)(2 * Pieces(8, nhalf) - 1) * seconds[0] + seconds[1];

    if (all >= best) continue;
    best  = all;
    *most = nhalf;
  }
  if (*most) PetscCallCUDA(KCycleCudaPartPrepare(&t->tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}
