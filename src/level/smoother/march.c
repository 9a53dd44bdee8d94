/*
  A march: steps of iterations by polynomials, in the natural order of the points, through a ring of planes in cache.
  It goes along the slowest direction (z, in 2D y: a plane is a line then). Each stage leaves its planes to the next
  one, which is one plane after it, and needs three of them:

    plane               t        t - 1     t - 2                      t       t - 1                 t - 2    t - 3
    before the coarse   x = b/d  step      residual,     after the    x = b/d step, interpolation   step     step
    grid, from zero                        restriction   coarse grid                                         to x

  b and x are read and written where they are. In the ring there are zeros around each line and each plane, and beyond
  the grid planes of zeros, so that no point has neighbours of another kind. The unit of work is a strip: lines after
  each other that share a class of coefficients.

  Threads share the lines of each plane, the same ones in all stages. A star reads lines of others in the plane of the
  stage alone, which the stage before has left a barrier ago.
*/
#include "march.h"

/* Numbers of a cache line at least */
#define PLACES   16
/* Numbers that a class has in KCycleMarch.inverse */
#define INVERSES 9

typedef enum {
  LOAD,  /* x as it is */
  START, /* x as a coarser solution is interpolated */
  ZERO,  /* the first step from zero */
  STEP,  /* see KCyclePointStep */
  RESULT /* residual and restriction */
} StageKind;

typedef struct {
  StageKind         kind;
  int               step;
  const KCycleTerm *term;
  PetscBool         interpolates, writes;
} Stage;

struct _KCycleMarch {
  const KCycleStencil *st;
  const KCycleVectors *vectors; /* where b and x are, or NULL */
  PetscInt             nterms;
  const KCycleTerm    *terms; /* of a sweep; of who made it */
  PetscInt             most;  /* stages, one for the residual included */
  PetscInt             planes, lines, pitch;
  KCScalar            *memory, *ring, *zeros; /* as allocated; line 0 of the first plane; of one beyond the grid */
  KCScalar            *right;                 /* ring of planes of b, see Collects() */
  KCScalar            *work;                  /* residuals, for each thread */
  PetscReal           *sums;                  /* of each line */
  KCScalar            *inverse;               /* of each class, see KCycleStrip */
};

/* One that is going on */
typedef struct {
  const KCycleMarch     *march;
  const KCycleMarchTask *task;
  PetscReal             *sums;
  Stage                 *stage;
  PetscInt               nstages;
} Run;

static const KCycleTerm None = {0, 0};

/* Line l of plane t as stage i has left it */
static KCScalar *RingLine(const KCycleMarch *m, PetscInt i, PetscInt t, PetscInt l)
{
  KCScalar *plane = t < 0 || t >= m->planes ? m->zeros : m->ring + (3 * i + t % 3) * (m->lines + 2) * m->pitch;

  return plane + l * m->pitch;
}

static PetscInt LineOf(const KCycleMarch *m, PetscInt t, PetscInt l)
{
  return l + m->lines * t;
}

/* Does b come to a ring of planes, as it is not an array of all points? */
static PetscBool Collects(const KCycleMarch *m)
{
  return (PetscBool)(m->vectors && (m->vectors->ghosts || m->vectors->from));
}

/* Line l of b of plane t, and how far after it the next line is */
static const KCScalar *RightLine(const Run *run, PetscInt t, PetscInt l, PetscInt *width)
{
  const KCycleMarch *m = run->march;

  *width = Collects(m) ? m->pitch : m->st->box->n[0];
  return Collects(m) ? m->right + ((t % m->most) * m->lines + l) * m->pitch : run->task->b + *width * LineOf(m, t, l);
}

/* Where stage i puts line l of plane t, and how far after it the next line is */
static KCScalar *Target(const Run *run, PetscInt i, PetscInt t, PetscInt l, PetscInt *out)
{
  const KCycleMarch *m = run->march;

  if (run->stage[i].writes && i == run->nstages - 1 && !Collects(m)) {
    *out = m->st->box->n[0];
    return run->task->x + m->st->box->n[0] * LineOf(m, t, l);
  }
  *out = m->pitch;
  return RingLine(m, i, t, l);
}

/* While stage i is at plane t memory brings its part of what the first stage reads of the next plane, and of what the
   last one writes there */
static void Ahead(const Run *run, PetscInt i, PetscInt t, PetscInt l, KCycleStrip *s)
{
  const KCycleMarch *m = run->march;
  const PetscInt     n = s->n, last = run->nstages - 1;
  const PetscInt     from = n * i / (last + 1), read = t + i + 1, write = read - last;

  s->nahead   = n * (i + 1) / (last + 1) - from;
  s->ahead[0] = s->ahead[1] = NULL;
  if (Collects(m)) return;
  if (read < m->planes) s->ahead[0] = run->task->b + n * LineOf(m, read, l) + from;
  if (run->stage[last].writes && write >= 0 && write < m->planes)
    s->ahead[1] = run->task->x + n * LineOf(m, write, l) + from;
}

/* Lines l to l + nlines - 1 of plane t share a class */
static void DoStrip(const Run *run, PetscInt i, PetscInt t, PetscInt l, PetscInt nlines, KCScalar *y, PetscInt out)
{
  const KCycleMarch   *m     = run->march;
  const Stage         *stage = &run->stage[i];
  const KCycleStencil *st    = m->st;
  const PetscInt       n = st->box->n[0], set = KCycleClassOfLine(st, LineOf(m, t, l));
  KCycleStrip          s;

  s.nlines  = nlines;
  s.n       = n;
  s.pitch   = m->pitch;
  s.b       = RightLine(run, t, l, &s.width);
  s.before  = NULL;
  s.y       = y;
  s.out     = out;
  s.k       = KCycleClassConstant(st, set);
  s.ends    = KCycleClassEnds(st, set);
  s.inverse = m->inverse + set * INVERSES;

  Ahead(run, i, t, l, &s);
  if (stage->kind == ZERO) {
    KCycleAdvanceStripFirst(stage->term, &s);
    return;
  }
  for (int p = 0; p < 3; p++) s.x[p] = RingLine(m, i - 1, t - 1 + p, l);
  if (stage->step == KC_STEP_NEXT) s.before = RingLine(m, i - 2, t, l);
  KCycleAdvanceStrip(&st->shape, stage->step, stage->term, &s);
}

/* A line with coefficients of its own, or one that is left of a strip */
static void DoLine(const Run *run, PetscInt i, PetscInt t, PetscInt l, KCScalar *y)
{
  static const KCScalar zeros[KC_MAX_LINES] = {0};
  const KCycleMarch    *m                   = run->march;
  const Stage          *stage               = &run->stage[i];
  const KCycleStencil  *st                  = m->st;
  const PetscBool       three               = (PetscBool)(st->box->dim == 3);
  PetscInt              width;
  const KCScalar       *b = RightLine(run, t, l, &width);
  KCycleLine            line;

  KCycleLineCoefficients(st, three ? l : t, three ? t : 0, &line);
  if (stage->kind == ZERO) {
    KCycleAdvanceFirst(&st->shape, &line, stage->term, b, y);
    return;
  }
  for (int q = 0; q < st->shape.nl; q++)
    line.x[q] = three ? RingLine(m, i - 1, t + st->shape.dz[q], l + st->shape.dy[q])
                      : RingLine(m, i - 1, t + st->shape.dy[q], l);
  line.left = line.right = zeros;
  KCycleAdvanceLine(&st->shape, stage->step, &line, stage->term,
                    stage->step == KC_STEP_NEXT ? RingLine(m, i - 2, t, l) : NULL, b, y);
}

/* The lines from l on, before end, that are done by one call; in 3D an even number. 0: the first one is done by
   itself */
static PetscInt StripLength(const KCycleMarch *m, PetscInt t, PetscInt l, PetscInt end)
{
  const PetscInt *set    = m->st->set + LineOf(m, t, l);
  PetscInt        nlines = 1;

  if (*set < 0 || !KCycleClassConstant(m->st, *set)) return 0;
  while (l + nlines < end && set[nlines] == *set) nlines++;
  return m->st->box->dim == 3 ? nlines / 2 * 2 : nlines;
}

/* Lines first to end - 1 of plane t to lines after y */
static void DoLines(const Run *run, PetscInt i, PetscInt t, PetscInt first, PetscInt end, KCScalar *y, PetscInt out)
{
  for (PetscInt l = first; l < end;) {
    const PetscInt nlines = StripLength(run->march, t, l, end);

    if (nlines) DoStrip(run, i, t, l, nlines, y + (l - first) * out, out);
    else DoLine(run, i, t, l, y + (l - first) * out);
    l += PetscMax(nlines, 1);
  }
}

/* From and to PETSc's numbers, in single precision; most: the largest numbers so far */
KC_VERSIONS static void ConvertIn(PetscInt n, const PetscScalar *KC_RESTRICT x, PetscReal scale, PetscReal limit,
                                  PetscReal *KC_RESTRICT most, KCScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n / KC_MOST * KC_MOST; i += KC_MOST) {
    for (int p = 0; p < KC_MOST; p++) {
      const PetscReal size = PetscAbsScalar(x[i + p]);

      most[p]  = size > most[p] ? size : most[p];
      y[i + p] = KCycleVectorsConvert(x[i + p], scale, limit);
    }
  }
  for (PetscInt i = n / KC_MOST * KC_MOST; i < n; i++) {
    most[0] = PetscMax(most[0], PetscAbsScalar(x[i]));
    y[i]    = KCycleVectorsConvert(x[i], scale, limit);
  }
}

KC_VERSIONS static void ConvertOut(PetscInt n, const KCScalar *KC_RESTRICT x, PetscReal back,
                                   PetscScalar *KC_RESTRICT y)
{
  for (PetscInt i = 0; i < n; i++) y[i] = (PetscScalar)x[i] * back;
}

static void FindLine(const KCycleMarch *m, PetscInt t, PetscInt l, KCycleVectorsLine *line)
{
  const PetscBool three = (PetscBool)(m->st->box->dim == 3);

  KCycleVectorsFind(m->st->box, m->vectors, three ? l : t, three ? t : 0, line);
}

/* Line l of plane t of b, or of x, comes to y */
static void Load(const Run *run, PetscBool right, PetscInt t, PetscInt l, KCScalar *y)
{
  const KCycleVectors *v = run->march->vectors;
  KCycleVectorsLine    line;

  FindLine(run->march, t, l, &line);
  for (int p = 0; p < line.count; y += line.n[p++]) {
    const KCScalar *x = line.owned[p] ? right ? run->task->b : run->task->x : right ? v->b : v->x;

    if (right && v->from)
      ConvertIn(line.n[p], (line.owned[p] ? v->from : v->others) + line.at[p], v->scale, v->limit, KCycleVectorsMost(v),
                y);
    else if (y != x + line.at[p]) memcpy(y, x + line.at[p], (size_t)line.n[p] * sizeof(KCScalar));
  }
}

/* Line l of plane t of x is y */
static void Store(const Run *run, PetscInt t, PetscInt l, const KCScalar *y)
{
  const KCycleVectors *v = run->march->vectors;
  KCycleVectorsLine    line;

  FindLine(run->march, t, l, &line);
  for (int p = 0; p < line.count; y += line.n[p++]) {
    if (run->task->converts) {
      if (line.owned[p]) ConvertOut(line.n[p], y, v->back, v->to + line.at[p]);
    } else {
      KCScalar *x = (line.owned[p] ? run->task->x : v->x) + line.at[p];

      if (x != y) memcpy(x, y, (size_t)line.n[p] * sizeof(KCScalar));
    }
  }
}

static void Smooth(const Run *run, PetscInt i, PetscInt t, PetscInt first, PetscInt end)
{
  const KCycleMarch     *m     = run->march;
  const KCycleMarchTask *task  = run->task;
  const Stage           *stage = &run->stage[i];
  const PetscBool        three = (PetscBool)(m->st->box->dim == 3);
  PetscInt               out, width;
  KCScalar              *y = Target(run, i, t, first, &out);

  for (PetscInt l = first; l < end && !i && Collects(m); l++)
    Load(run, PETSC_TRUE, t, l, (KCScalar *)RightLine(run, t, l, &width));
  if (stage->kind != LOAD && stage->kind != START) DoLines(run, i, t, first, end, y, out);
  for (PetscInt l = first; l < end; l++, y += out) {
    if (stage->kind == LOAD) Load(run, PETSC_FALSE, t, l, y);
    if (stage->kind == START)
      KCycleStartLine(task->start, three ? l : t, three ? t : 0,
                      m->work + KCycleThread() * KCYCLE_MARCH_LINES * m->pitch, y);
    if (stage->interpolates)
      KCycleTransferInterpolateLine(task->tr, task->e, three ? l : t, three ? t : 0, PETSC_TRUE, y);
    if (stage->writes) Store(run, t, l, y);
  }
}

/* Residuals of some lines of plane t that are this thread's, then their restriction */
static void Restrict(const Run *run, PetscInt i, PetscInt t)
{
  const KCycleMarch  *m     = run->march;
  const KCycleBox    *box   = m->st->box;
  const PetscBool     three = (PetscBool)(box->dim == 3);
  KCScalar           *work  = m->work + KCycleThread() * KCYCLE_MARCH_LINES * m->pitch;
  KCycleTransferLines lines;
  PetscInt            high;

  KCycleTransferShare(run->task->tr, 0, m->lines, &lines);
  high = PetscMin(m->lines, lines.high[0]);
  for (PetscInt first = PetscMax(0, lines.low[0]); first < high; first += KCYCLE_MARCH_LINES) {
    const PetscInt end = PetscMin(high, first + KCYCLE_MARCH_LINES);

    DoLines(run, i, t, first, end, work, m->pitch);
    for (PetscInt l = first; l < end; l++) {
      const KCScalar *r = work + (l - first) * m->pitch;

      if (run->sums && l >= lines.own) run->sums[LineOf(m, t, l)] = KCycleSumSquares(box->n[0], r);
      KCycleTransferRestrictLine(run->task->tr, r, three ? l : t, three ? t : 0, &lines, run->task->coarse);
    }
  }
}

static void Share(const Run *run)
{
  const KCycleMarch *m = run->march;
  PetscInt           first, end;

  KCycleShare(0, m->lines, &first, &end);
  for (PetscInt t = 0; t < m->planes + run->nstages - 1; t++) {
    for (PetscInt i = 0; i < run->nstages; i++) {
      if (t - i < 0 || t - i >= m->planes) continue;
      if (m->st->shape.box || run->stage[i].kind == RESULT) {
        KC_BARRIER
      }
      if (run->stage[i].kind == RESULT) Restrict(run, i, t - i);
      else Smooth(run, i, t - i, first, end);
    }
    KC_BARRIER
  }
}

static void AddStage(Run *run, StageKind kind, int step, const KCycleTerm *term)
{
  Stage *stage = &run->stage[run->nstages++];

  stage->kind         = kind;
  stage->step         = step;
  stage->term         = term;
  stage->interpolates = stage->writes = PETSC_FALSE;
}

static void AddSweep(Run *run)
{
  const KCycleMarch *m = run->march;

  for (PetscInt k = 0; k < m->nterms; k++) {
    if (!run->nstages) AddStage(run, ZERO, KC_STEP_FIRST, &m->terms[k]);
    else {
      const PetscBool second = (PetscBool)(run->nstages == 1 && run->stage[0].kind == ZERO);

      AddStage(run, STEP, !k ? KC_STEP_FIRST : second ? KC_STEP_SECOND : KC_STEP_NEXT, &m->terms[k]);
    }
  }
}

/* Sweeps that go after each other, with an interpolation or a restriction */
PetscInt KCycleMarchSweeps(const KCycleMarch *march)
{
  return (march->most - 2) / march->nterms;
}

PetscErrorCode KCycleMarchRun(const KCycleMarch *m, const KCycleMarchTask *task)
{
  const KCycleStencil *st = m->st;
  Stage                stages[64];
  Run                  run = {m, task, task->sum ? m->sums : NULL, stages, 0};

  PetscFunctionBegin;
  if (!task->zeroguess) AddStage(&run, task->start ? START : LOAD, 0, NULL);
  for (PetscInt s = 0; s < task->its[0]; s++) AddSweep(&run);
  if (task->e) {
    PetscCall(KCycleBoxExchange(task->tr->coarse, PETSC_TRUE, task->e, task->tr->halo));
    run.stage[run.nstages - 1].interpolates = PETSC_TRUE;
  }
  for (PetscInt s = 0; s < task->its[1]; s++) AddSweep(&run);
  run.stage[run.nstages - 1].writes = task->writes;
  if (task->coarse) {
    PetscCall(KCycleTransferRestrictBegin(task->tr));
    AddStage(&run, RESULT, KC_STEP_RESIDUAL, &None);
  }
  KC_PARALLEL(KCyclePointsOfPlane(st->box))
  Share(&run);
  if (task->coarse) PetscCall(KCycleTransferRestrictEnd(task->tr, task->coarse));
  if (task->sum) *task->sum = 0;
  for (PetscInt l = 0; task->sum && l < st->box->nlines; l++) *task->sum += m->sums[l];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For new values of the operator, whose lines may share other coefficients */
PetscErrorCode KCycleMarchRenew(KCycleMarch *m)
{
  const KCycleStencil *st = m->st;
  const int            nc = st->shape.ncoeffs;

  PetscFunctionBegin;
  PetscCall(PetscFree(m->inverse));
  PetscCall(PetscMalloc1(INVERSES * (size_t)st->nclasses + 1, &m->inverse));
  for (PetscInt c = 0; c < st->nclasses; c++) {
    const KCycleClass *k       = KCycleClassConstant(st, c);
    KCScalar          *inverse = m->inverse + INVERSES * c;

    if (!k) continue;
    inverse[0] = KCyclePointInverse(k->middle[nc / 2]);
    for (PetscInt i = 0; i < k->a + st->box->n[0] - k->b; i++)
      inverse[1 + i] = KCyclePointInverse(KCycleClassEnds(st, c)[i * nc + nc / 2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleMarchDestroy(KCycleMarch **march)
{
  PetscFunctionBegin;
  if (!*march) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*march)->memory));
  PetscCall(PetscFree((*march)->right));
  PetscCall(PetscFree((*march)->work));
  PetscCall(PetscFree((*march)->sums));
  PetscCall(PetscFree((*march)->inverse));
  PetscCall(PetscFree(*march));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL where the grid is that of several processes, or wraps around, or has no planes that are coupled, and for sweeps
   of more terms than there are stages */
PetscErrorCode KCycleMarchCreate(const KCycleStencil *st, const KCycleVectors *vectors, PetscInt nterms,
                                 const KCycleTerm terms[], KCycleMarch **march)
{
  const KCycleBox *box = st->box;
  KCycleMarch     *m;
  size_t           plane;

  PetscFunctionBegin;
  *march = NULL;
  if (box->dim < 2 || KCycleBoxTalks(box) || st->shape.flat || nterms > 60) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&m));
  m->st      = st;
  m->vectors = vectors;
  m->nterms  = nterms;
  m->terms   = terms;
  m->most    = PetscMax(nterms, KCYCLE_MARCH_TERMS) + 2;
  m->planes  = KCyclePlanes(box);
  m->lines   = KCycleLinesOfPlane(box);
  m->pitch   = (box->n[0] + PLACES) / PLACES * PLACES;
  if (m->pitch % 64 == 0) m->pitch += PLACES; /* lines side by side are not to meet in the cache */
  plane = (size_t)(m->lines + 2) * (size_t)m->pitch;
  PetscCall(PetscCalloc1((3 * (size_t)(m->most - 1) + 1) * plane + 2 * PLACES, &m->memory));
  m->ring  = (KCScalar *)(((size_t)m->memory + 2 * PLACES * sizeof(KCScalar) - 1) / 64 * 64) + m->pitch;
  m->zeros = m->ring + 3 * (size_t)(m->most - 1) * plane;
  PetscCall(PetscMalloc1((size_t)KCycleThreadsMost() * KCYCLE_MARCH_LINES * (size_t)m->pitch, &m->work));
  PetscCall(PetscMalloc1(box->nlines, &m->sums));
  if (vectors) PetscCall(PetscMalloc1((size_t)m->most * (size_t)m->lines * (size_t)m->pitch, &m->right));
  PetscCall(KCycleMarchRenew(m));
  *march = m;
  PetscFunctionReturn(PETSC_SUCCESS);
}
