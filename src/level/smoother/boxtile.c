/*
  A tile for box stencils: the planes of x that the steps of a coloured pass work on, copied to a ring of planes in
  cache.

  In it lines lie at fixed distances, with zeros before and after them and in place of lines outside the grid. So whole
  vectors are computed from the first point of a line to its last, none of them apart. The coefficients stay where they
  are.

  Both colours of a line need the same sum over the other lines, which do not change meanwhile: it is found once.
*/
#include "boxtile.h"

PetscErrorCode KCycleBoxTileDestroy(KCycleBoxTile **tile)
{
  PetscFunctionBegin;
  if (!*tile) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*tile)->memory));
  PetscCall(PetscFree((*tile)->coefficients));
  PetscCall(PetscFree(*tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first coefficient of a line */
static int FirstOf(const KCycleShape *shape, int q)
{
  int o = 0;

  while (shape->line[o] < q) o++;
  return o;
}

/* Those of line (j, k). Couplings with lines before it may be kept by these: of point i that of point i - 1, i or i
   + 1 there */
static void FindCoefficients(const KCycleStencil *st, PetscInt j, PetscInt k, KCycleBoxCoefficients *c)
{
  const KCycleShape *shape = &st->shape;
  const PetscInt     n = st->box->n[0], set = KCycleClassOf(st, j, k);
  const int          nl = shape->nl, mid = shape->ncoeffs / 2;
  const PetscBool    mirrored = (PetscBool)(set < 0 && st->half);

  c->constant = set < 0 ? NULL : KCycleClassConstant(st, set);
  c->diagonal = KCycleCoefficientsFrom(st, j, k, mid);
  c->right    = c->diagonal + n;
  c->left     = mirrored ? c->right - 1 : c->diagonal - n;
  c->step[0]  = mirrored ? 1 - n : n;
  c->step[1]  = n;
  for (int q = 0; q < nl / 2; q++) {
    const int back = FirstOf(shape, q), ahead = FirstOf(shape, nl / 2 + 1 + q), opposite = FirstOf(shape, nl - 1 - q);

    c->c[nl / 2 + q] = c->diagonal + (ahead - mid) * n;
    if (mirrored) {
      const KCScalar *from = KCycleCoefficientsFrom(st, j + shape->dy[q], k + shape->dz[q], opposite);
      const PetscInt  last = shape->line[back + 1] == q ? 2 * n - 1 : 0; /* of one line or three */

      c->c[q] = from ? from + last : c->diagonal + last + 1; /* beyond the grid, where x is zero */
    } else c->c[q] = c->diagonal + (back - mid) * n;
  }
}

/* For a matrix with a box stencil in two or three dimensions */
PetscErrorCode KCycleBoxTileCreate(const KCycleStencil *st, KCycleBoxTile **tile)
{
  const KCycleBox *box   = st->box;
  const uintptr_t  bytes = KC_VECTOR * sizeof(KCScalar);
  KCycleBoxTile   *w;
  size_t           ring;

  PetscFunctionBegin;
  PetscCall(PetscNew(&w));
  *tile     = w;
  w->st     = st;
  w->length = (box->n[0] + KC_VECTOR - 1) / KC_VECTOR * KC_VECTOR + KC_VECTOR;
  w->lead   = box->dim == 3 ? 1 : 0;
  w->lines  = box->dim == 3 ? box->n[1] + 2 : 1;
  w->planes = PetscMin(KC_TILE_STEPS, KCyclePlanes(box)) + 2;
  ring      = (size_t)w->planes * w->lines * w->length;
  PetscCall(PetscCalloc1(ring + (size_t)2 * KCycleThreadsMost() * w->length + 2 * KC_VECTOR, &w->memory));
  w->ring = (KCScalar *)(((uintptr_t)w->memory + bytes - 1) / bytes * bytes);
  w->work = w->ring + ring;
  PetscCall(PetscMalloc1(box->nlines, &w->coefficients));
  for (PetscInt line = 0; line < box->nlines; line++)
    FindCoefficients(st, line % box->n[1], line / box->n[1], &w->coefficients[line]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines low to high - 1 of plane t, which may be a halo plane; what lies outside the grid is zero. No x: all is zero */
void KCycleBoxTilePack(const KCycleBoxTile *w, const KCScalar *x, PetscInt t, PetscInt low, PetscInt high)
{
  const KCycleBox *box = w->st->box;

  for (PetscInt l = low; l < high; l++) {
    if (x)
      memcpy(LineAt(w, t, l), KCycleBoxLine(box, x, w->st->halo, w->lead ? l : t, w->lead ? t : 0),
             box->n[0] * sizeof(KCScalar));
    else memset(LineAt(w, t, l), 0, box->n[0] * sizeof(KCScalar));
  }
}

void KCycleBoxTileUnpack(const KCycleBoxTile *w, PetscInt t, PetscInt low, PetscInt high, KCScalar *x)
{
  const PetscInt n = w->st->box->n[0];

  for (PetscInt l = low; l < high; l++)
    memcpy(x + n * (w->lead ? l + w->st->box->n[1] * t : t), LineAt(w, t, l), n * sizeof(KCScalar));
}

static const KCycleBoxKernels *KernelsOf(const KCycleBoxTile *w)
{
  const int box = w->st->shape.box;

  if (w->lead && box > KC_BOX) return &KCycleBoxPlanesOfPrisms[box - KC_BOX - 1];
  return &KCycleBoxPlanesOfBoxes[w->lead ? 1 : 0];
}

/* Of each line its points of the first weights, then those of the second. alone: x counts as zero in the planes next to
   it */
void KCycleBoxTileRelax(const KCycleBoxTile *w, KCyclePlaneLines lines, PetscBool alone, const KCScalar *b,
                        const KCScalar *const weights[])
{
  const KCycleBoxPlane p = {lines, alone, b, {weights[0], weights[1]}, NULL};

  (*KernelsOf(w)->relax)(w, &p);
}

/* Restricts the residual */
void KCycleBoxTileRestrict(const KCycleBoxTile *w, KCyclePlaneLines lines, const KCScalar *b,
                           const KCycleRestriction *to)
{
  const KCycleBoxPlane p = {lines, PETSC_FALSE, b, {NULL, NULL}, to};

  (*KernelsOf(w)->restrictresidual)(w, &p);
}

/* Adds the interpolated correction to lines first to end - 1 of plane t */
void KCycleBoxTileInterpolate(const KCycleBoxTile *w, PetscInt t, PetscInt first, PetscInt end,
                              const KCycleTransfer *tr, const KCScalar *e)
{
  for (PetscInt l = first; l < end; l++)
    KCycleTransferInterpolateLine(tr, e, w->lead ? l : t, w->lead ? t : 0, PETSC_TRUE, LineAt(w, t, l));
}
