/*
  Grid lines of one direction: blocks of them, and the factors of their systems. Systems with the same coefficients
  share them.
*/
#include "lines.h"

/* Lines of a block at least, where a row has more than one. No threshold: the first and the last points of a line in x
   that have their own coefficients, at most 7 each, have to be in one block, see KCycleLinePart() */
#define LEAST_LINES 8

/* Numbers that a set keeps of each point, see KCycleLineSetFactors() */
static PetscInt Kinds(const KCycleLines *z, PetscBool symmetric)
{
  return (z->cut ? 4 : 2) + (symmetric ? 0 : 1);
}

static PetscInt *SetOf(const KCycleLines *z, const KCycleLineBlock *block)
{
  const PetscInt index = 2 * block->row + block->parity;

  return z->set + (z->d == 0 ? index * z->nblocks + block->first / KC_SYSTEMS : index);
}

/* Returns the number that the first line of the block has among the systems */
PetscInt KCycleLinesFactors(const KCycleLines *z, const KCycleLineBlock *block, KCycleFactors *f)
{
  KCycleLineSetFactors(&z->sets[*SetOf(z, block)], z->factors, z->n, z->cut, f);
  return z->d == 0 ? 0 : block->first;
}

/* The grid line in x through point i of line s of the block, and where it meets it */
static PetscInt Meet(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block, PetscInt i,
                     PetscInt s, PetscInt *x)
{
  PetscInt at[3];

  at[z->d]         = i;
  at[z->beside[0]] = block->parity + 2 * s;
  at[z->beside[1]] = block->row;
  *x               = at[0];
  return at[1] + st->box->n[1] * at[2];
}

/* Grid lines in x that a block meets: line number i of them */
static PetscInt LineOfBlock(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block, PetscInt i)
{
  PetscInt x;

  return z->d == 0 ? Meet(st, z, block, 0, block->first + i, &x) : Meet(st, z, block, i, 0, &x);
}

static PetscInt CountLines(const KCycleLines *z, const KCycleLineBlock *block)
{
  return z->d == 0 ? block->end - block->first : z->n;
}

/* Do both blocks meet lines with the same coefficients? */
static PetscBool Same(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *a, const KCycleLineBlock *b)
{
  if (CountLines(z, a) != CountLines(z, b)) return PETSC_FALSE;
  for (PetscInt i = 0; i < CountLines(z, a); i++) {
    const PetscInt set = KCycleClassOfLine(st, LineOfBlock(st, z, a, i));

    if (set < 0 || set != KCycleClassOfLine(st, LineOfBlock(st, z, b, i))) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* An older set of factors that is right for the block, or -1 */
static PetscInt FindSet(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block)
{
  KCycleLineBlock old[3];
  int             n = 0;

  if (block->first > 0) old[n++] = KCycleLinesBlock(st, z, block->row, block->parity, block->first / KC_SYSTEMS - 1);
  if (block->row > 0) {
    old[n] = *block;
    old[n++].row--;
  }
  if (z->d == 0 && block->parity) {
    old[n]          = KCycleLinesBlock(st, z, block->row, 0, block->first / KC_SYSTEMS);
    old[n++].parity = 0;
  }
  for (int i = 0; i < n; i++) {
    if (Same(st, z, block, &old[i])) return *SetOf(z, &old[i]);
  }
  return -1;
}

/* Which systems of the block are the same because grid lines have the same coefficients: low to high - 1 */
static void FindShared(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block, KCycleLineSet *set)
{
  PetscInt a = 0, b = st->box->n[0];

  set->m   = z->d == 0 ? KC_SYSTEMS : block->end;
  set->low = set->high = 0;
  for (PetscInt i = 0; i < CountLines(z, block); i++) {
    const PetscInt     c    = KCycleClassOfLine(st, LineOfBlock(st, z, block, i));
    const KCycleClass *same = c < 0 ? NULL : KCycleClassConstant(st, c);

    if (z->d == 0 && (c < 0 || c != KCycleClassOfLine(st, LineOfBlock(st, z, block, 0)))) return;
    if (z->d && !same) return;
    if (z->d) {
      a = PetscMax(a, same->a);
      b = PetscMin(b, same->b);
    }
  }
  if (z->d == 0) {
    set->high = KC_SYSTEMS;
  } else {
    set->low  = (a + 1 - block->parity) / 2;
    set->high = PetscMax(set->low, (b + 1 - block->parity) / 2);
  }
  if (set->high > set->low) set->m -= set->high - set->low - 1;
}

/* Coefficient o of n points of a line, the first one and every step-th after it, to numbers at a distance */
static void Gather(const KCycleLine *l, int o, PetscInt first, PetscInt step, PetscInt n, PetscInt distance,
                   KCScalar *to)
{
  const KCScalar *c   = l->constant ? l->end[0] + o * l->stride : l->c[o];
  const PetscInt  low = first == 0 ? 1 : 0, high = first + step * (n - 1) == l->n - 1 ? n - 1 : n;

  if (n < 1) return;
  for (PetscInt i = low; i < high; i++) to[i * distance] = c[first + step * i];
  if (low) to[0] = KCycleLineCoefficient(l, o, 0);
  if (high < n) to[(n - 1) * distance] = KCycleLineCoefficient(l, o, l->n - 1);
}

/* Those of lines in x: systems side by side */
static void GatherAlong(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block,
                        const KCycleFactors *f, const int o[3], KCScalar *const c[3])
{
  PetscInt x;

  for (PetscInt s = 0; s < block->end - block->first; s++) {
    const PetscInt line = Meet(st, z, block, 0, block->first + s, &x);
    KCycleLine     l;

    if (s > f->low && s < f->high) continue;
    KCycleLineCoefficients(st, line % st->box->n[1], line / st->box->n[1], &l);
    for (int k = 0; k < 3; k++) Gather(&l, o[k], 0, 1, z->n, f->m, c[k] + KCycleFactorsIndex(f, s));
  }
}

/* And of others: along the grid's lines in x, whose coefficients are at hand together. Systems that are the same are
   those of the first one of them */
static void GatherAcross(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block,
                         const KCycleFactors *f, const int o[3], KCScalar *const c[3])
{
  const PetscInt lines = block->end - block->first, first[2] = {0, PetscMin(f->high, lines)};
  const PetscInt end[2] = {f->low < f->high ? PetscMin(f->low + 1, lines) : lines, f->low < f->high ? lines : first[1]};

  for (PetscInt i = 0; i < z->n; i++) {
    PetscInt       x;
    const PetscInt line = Meet(st, z, block, i, block->first, &x), at = KCycleLinesRow(z, block, i) * f->m;
    KCycleLine     l;

    KCycleLineCoefficients(st, line % st->box->n[1], line / st->box->n[1], &l);
    for (int k = 0; k < 3; k++) {
      for (int run = 0; run < 2; run++)
        Gather(&l, o[k], x + 2 * first[run], 2, end[run] - first[run], 1,
               c[k] + at + KCycleFactorsIndex(f, first[run]));
    }
  }
}

/* The coefficients of the systems of a block; 0 beyond ends that nothing is after, and trivial systems where a block
   has fewer lines */
static void Coefficients(const KCycleStencil *st, const KCycleLines *z, const KCycleLineBlock *block,
                         const KCycleLineSet *set, KCScalar *c[3])
{
  const PetscInt      step[3] = {1, 3, 9}, n = z->n * set->m;
  const int          *find   = st->shape.find;
  const int           before = z->turned && block->parity ? 2 : 0; /* kind of the coupling with the point before */
  const KCycleFactors f      = {NULL, NULL, NULL, NULL, NULL, set->m, set->low, set->high};
  int                 o[3];

  for (PetscInt i = 0; i < n; i++) {
    c[0][i] = c[2][i] = 0;
    c[1][i]           = 1;
  }
  o[before]     = find[13 - step[z->d]];
  o[1]          = find[13];
  o[2 - before] = find[13 + step[z->d]];
  if (z->d == 0) GatherAlong(st, z, block, &f, o, c);
  else GatherAcross(st, z, block, &f, o, c);
  for (PetscInt s = 0; s < set->m; s++) {
    if (!z->coupled[0]) c[before][KCycleLinesRow(z, block, 0) * set->m + s] = 0;
    if (!z->coupled[1]) c[2 - before][KCycleLinesRow(z, block, z->n - 1) * set->m + s] = 0;
  }
}

/* From the coefficients in a, by kind: 1 / D, U, couplings, L */
static void Factor(const KCycleLines *z, KCycleLineSet *set, KCScalar *a)
{
  const PetscInt m = set->m, n = z->n * m;
  KCScalar      *lower = a + (z->cut ? 4 : 2) * n, *upper = a + n, *v = a + 2 * n, *w = v + n;

  if (z->cut) {
    memset(v, 0, (size_t)(2 * n) * sizeof(KCScalar));
    for (PetscInt s = 0; s < m; s++) {
      v[s]         = lower[s];
      w[n - m + s] = upper[n - m + s];
    }
  }
  KCycleTridiagonalFactor(z->n, m, KC_EPSILON, lower, a, upper);
  if (z->cut) {
    KCycleTridiagonalSolve(z->n, m, lower, a, upper, v);
    KCycleTridiagonalSolve(z->n, m, lower, a, upper, w);
  }
  set->symmetric = (PetscBool)!memcmp(lower + m, upper, (size_t)(n - m) * sizeof(KCScalar));
}

/* Room for one set more, of `length` numbers */
static PetscErrorCode Grow(KCycleLines *z, size_t length)
{
  PetscFunctionBegin;
  if (z->nsets == z->setroom) {
    z->setroom = 2 * z->setroom + 4;
    PetscCall(PetscRealloc((size_t)z->setroom * sizeof(KCycleLineSet), &z->sets));
  }
  if (z->used + length > z->room) {
    z->room = PetscMax(z->used + length, 2 * z->room);
    PetscCall(PetscRealloc(z->room * sizeof(KCScalar), &z->factors));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorBlock(const KCycleStencil *st, KCycleLines *z, const KCycleLineBlock *block)
{
  PetscInt      *set = SetOf(z, block), n;
  KCycleLineSet *made;
  KCScalar      *a, *c[3];

  PetscFunctionBegin;
  *set = FindSet(st, z, block);
  if (*set >= 0) PetscFunctionReturn(PETSC_SUCCESS);
  *set = z->nsets;
  PetscCall(Grow(z, (size_t)(Kinds(z, PETSC_FALSE) * z->n) * (size_t)PetscMax(KC_SYSTEMS, block->end)));
  made     = &z->sets[z->nsets++];
  made->at = z->used;
  FindShared(st, z, block, made);
  a    = z->factors + made->at;
  n    = z->n * made->m;
  c[0] = a + (z->cut ? 4 : 2) * n;
  c[1] = a;
  c[2] = a + n;
  Coefficients(st, z, block, made, c);
  Factor(z, made, a);
  z->used += (size_t)Kinds(z, made->symmetric) * (size_t)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FactorRow(const KCycleStencil *st, KCycleLines *z, PetscInt row)
{
  PetscFunctionBegin;
  for (int parity = 0; parity < 2; parity++) {
    if (z->d == 0) {
      for (PetscInt b = 0; b < z->nblocks; b++) {
        const KCycleLineBlock block = KCycleLinesBlock(st, z, row, parity, b);

        if (block.end > block.first) PetscCall(FactorBlock(st, z, &block));
      }
    } else {
      const KCycleLineBlock all = {row, 0, (st->box->n[0] + 1 - parity) / 2, parity};

      if (all.end > 0) PetscCall(FactorBlock(st, z, &all));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines of each colour in the rows before each row */
static PetscErrorCode CountColours(const KCycleStencil *st, KCycleLines *z)
{
  const PetscInt n = st->box->n[z->beside[0]];

  PetscFunctionBegin;
  for (int c = 0; c < z->ncolours; c++) {
    PetscCall(PetscMalloc1(z->nrows + 1, &z->start[c]));
    z->start[c][0] = 0;
    for (PetscInt row = 0; row < z->nrows; row++) {
      const int parity = KCycleLinesParity(st, z, c, row);

      z->start[c][row + 1] = z->start[c][row] + (parity < 0 ? 0 : (n + 1 - parity) / 2);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleLinesSetUp(const KCycleSmoother *s, PetscInt d, KCycleLines *z)
{
  const KCycleStencil *st  = s->st;
  const KCycleBox     *box = st->box;
  PetscInt             half;

  PetscFunctionBegin;
  z->d         = d;
  z->beside[0] = d == 0 ? 1 : 0;
  z->beside[1] = d == 2 ? 1 : 2;
  z->n         = box->n[d];
  z->step[0]   = 1;
  z->step[1]   = box->n[0];
  z->step[2]   = box->n[0] * box->n[1];
  z->ncolours  = box->dim == 1 ? 1 : box->dim == 3 && st->shape.box && !st->shape.flat ? 4 : 2;
  half         = (box->n[z->beside[0]] + 1) / 2;
  z->nrows     = box->n[z->beside[1]];
  z->nblocks   = (half + KC_SYSTEMS - 1) / KC_SYSTEMS;
  if (d) {
    z->nblocks = (half + KCYCLE_BLOCK_LINES - 1) / KCYCLE_BLOCK_LINES;
    /* a row that is the only one is shared by threads */
    if (z->nrows == 1) z->nblocks = PetscMax(z->nblocks, PetscMin(KCycleThreadsMost(), half / LEAST_LINES));
  }
  z->most = d == 0 ? KC_SYSTEMS : (half + z->nblocks - 1) / z->nblocks;
  PetscCall(CountColours(st, z));
  PetscCall(KCycleLinesFindParts(s, z));
  z->rows   = (PetscBool)(d > 0 && box->dim == 3 && box->n[0] > 1 && KCycleThreadsMost() == 1 && !KCycleBoxTalks(box));
  z->turned = (PetscBool)(d == 1 && box->dim == 2 && box->n[0] > 1 && !st->shape.box && !KCycleBoxTalks(box));
  PetscCall(PetscMalloc1(2 * z->nrows * (d == 0 ? z->nblocks : 1), &z->set));
  for (PetscInt row = 0; row < z->nrows; row++) PetscCall(FactorRow(st, z, row));
  PetscCall(PetscRealloc(z->used * sizeof(KCScalar), &z->factors));
  if (z->cut) PetscCall(KCycleLinesSetUpEnds(st, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleLinesDestroy(KCycleLines *z)
{
  PetscFunctionBegin;
  for (int c = 0; c < z->ncolours; c++) PetscCall(PetscFree(z->start[c]));
  PetscCall(PetscFree(z->set));
  PetscCall(PetscFree(z->sets));
  PetscCall(PetscFree(z->factors));
  PetscCall(KCycleLinesDestroyEnds(&z->ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}
