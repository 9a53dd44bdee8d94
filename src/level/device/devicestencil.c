/*
  Operators on a device: products, and the sweeps of smoothers that have kernels there.
*/
#include <petsckcycle/private/devicelevelimpl.h>

static PetscErrorCode Forget(KCycleCudaStencil *st)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceFree(st->classes));
  PetscCall(KCycleDeviceFree(st->shared));
  PetscCall(KCycleDeviceFree(st->own));
  PetscCall(KCycleDeviceFree(st->set));
  PetscCall(KCycleDeviceFree(st->block));
  st->classes = NULL;
  st->shared = st->own = NULL;
  st->set              = NULL;
  st->block            = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void SetShape(const KCycleStencil *from, KCycleCudaStencil *st)
{
  const KCycleBox *box = from->box;

  st->shape = from->shape;
  for (int o = 0; o < from->shape.ncoeffs; o++) {
    const int q = from->shape.line[o];

    st->away[o] = from->shape.dx[o] + box->n[0] * (from->shape.dy[q] + box->n[1] * from->shape.dz[q]);
  }
  st->length = KCycleClassLength(box, &from->shape);
}

/* The coefficients as they are on the host now */
PetscErrorCode KCycleDeviceStencilFill(const KCycleStencil *from, KCycleDeviceStencil *to)
{
  const KCycleBox   *box = from->box;
  KCycleCudaStencil *st  = &to->st;

  PetscFunctionBegin;
  PetscCall(Forget(st));
  SetShape(from, st);
  st->half = from->half ? from->shape.ncoeffs / 2 : 0;
  PetscCall(KCycleDeviceCopy(from->classes, (size_t)from->nclasses * sizeof(*from->classes), &st->classes));
  PetscCall(KCycleDeviceCopy(from->shared.v, (size_t)from->shared.used * sizeof(KCScalar), &st->shared));
  PetscCall(KCycleDeviceCopy(from->own.v, (size_t)from->own.used * sizeof(KCScalar), &st->own));
  PetscCall(KCycleDeviceCopy(from->set, (size_t)box->nlines * sizeof(*from->set), &st->set));
  PetscCall(KCycleDeviceCopy(from->block, (size_t)box->nextended * sizeof(*from->block), &st->block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each line has its own block with all coefficients, one after the other, which the caller fills */
PetscErrorCode KCycleDeviceStencilMakeBlocks(const KCycleStencil *from, KCycleDeviceStencil *to, KCScalar **own)
{
  const KCycleBox   *box    = from->box;
  const PetscInt     length = KCycleBlockLength(box, &from->shape, PETSC_FALSE);
  KCycleCudaStencil *st     = &to->st;
  PetscInt          *set;
  PetscInt64        *block;

  PetscFunctionBegin;
  if (st->own && !st->classes && !st->half && KCycleShapeKind(&st->shape) == KCycleShapeKind(&from->shape)) {
    *own = (KCScalar *)st->own; /* they are there */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(Forget(st));
  SetShape(from, st);
  st->half = 0;
  PetscCall(PetscMalloc2(box->nlines, &set, box->nextended, &block));
  for (PetscInt e = 0; e < box->nextended; e++) block[e] = -1;
  for (PetscInt l = 0; l < box->nlines; l++) {
    set[l]                                                      = -1;
    block[KCycleBoxExtended(box, l % box->n[1], l / box->n[1])] = (PetscInt64)l * length;
  }
  PetscCall(KCycleDeviceCopy(set, (size_t)box->nlines * sizeof(*set), &st->set));
  PetscCall(KCycleDeviceCopy(block, (size_t)box->nextended * sizeof(*block), &st->block));
  PetscCall(PetscFree2(set, block));
  PetscCall(KCycleDeviceMalloc((size_t)box->nlines * (size_t)length * sizeof(KCScalar), own));
  st->own = *own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without coefficients */
PetscErrorCode KCycleDeviceStencilCreateEmpty(const KCycleStencil *from, PetscBool overlaps,
                                              KCycleDeviceStencil **stencil)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(stencil));
  PetscCall(KCycleDeviceGridCreate(from->box, overlaps, &(*stencil)->grid));
  (*stencil)->st.box  = (*stencil)->grid->box;
  (*stencil)->st.halo = (*stencil)->grid->halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceStencilCreate(const KCycleStencil *from, PetscBool overlaps, KCycleDeviceStencil **stencil)
{
  PetscFunctionBegin;
  PetscCall(KCycleDeviceStencilCreateEmpty(from, overlaps, stencil));
  PetscCall(KCycleDeviceStencilFill(from, *stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleDeviceStencilDestroy(KCycleDeviceStencil **stencil)
{
  PetscFunctionBegin;
  if (!*stencil) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Forget(&(*stencil)->st));
  PetscCall(KCycleDeviceGridDestroy(&(*stencil)->grid));
  PetscCall(PetscFree(*stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The halo from x, where there is nothing to do meanwhile */
PetscErrorCode KCycleDeviceStencilExchange(const KCycleDeviceStencil *st, const KCScalar *x)
{
  return KCycleDeviceGridExchange(st->grid, (PetscBool)(st->st.shape.box != 0), x);
}

/* With the exchange of the halo of x */
PetscErrorCode KCycleDeviceStencilStep(const KCycleDeviceStencil *stencil, const KCycleCudaStep *step)
{
  const KCycleShape      *shape   = &stencil->st.shape;
  const KCycleDeviceGrid *grid    = stencil->grid;
  const PetscBool         corners = (PetscBool)(shape->box != 0), overlaps = (PetscBool)(step->x && grid->overlaps);

  PetscFunctionBegin;
  if (step->x) PetscCall(KCycleDeviceGridExchangeBegin(grid, corners, step->x));
  if (overlaps) KCycleCallKernel(KCycleCudaComputePart, &stencil->st, step, &grid->points.inner);
  if (step->x) PetscCall(KCycleDeviceGridExchangeEnd(grid, corners));
  if (overlaps) KCycleCallKernel(KCycleCudaComputePart, &stencil->st, step, &grid->points.rim);
  else KCycleCallKernel(KCycleCudaCompute, &stencil->st, step);
  PetscCall(PetscLogGpuFlops(((step->x ? 2.0 * shape->ncoeffs : 0) + (step->op == KC_MULT ? 0 : 3)) *
                             stencil->st.box.npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps that compute a new x from the one before, which are in x and in work[0] by turns */
typedef struct {
  const KCycleDeviceStencil *st;
  const KCScalar            *b;
  KCScalar                  *x, *now, *work[2];
  PetscBool                  zero; /* what now holds counts as zero */
} Iterate;

/* So that the last step leaves it in x */
static PetscErrorCode IterateBegin(Iterate *it, PetscInt steps)
{
  PetscFunctionBegin;
  it->now = steps % 2 ? it->work[0] : it->x;
  if (it->zero || it->now == it->x) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleCallKernel(KCycleCudaMove, it->st->st.box.npoints, NULL, it->x, NULL, it->now);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- x + w D^-1 (b - A x); with a direction: d <- keep d + w D^-1 (b - A x), x <- x + d */
static PetscErrorCode IterateStep(Iterate *it, const KCycleTerm *term, PetscBool direction)
{
  KCycleCudaStep step;

  PetscFunctionBegin;
  step.op   = KC_RELAX;
  step.x    = it->zero ? NULL : it->now;
  step.b    = it->b;
  step.y    = it->now == it->x ? it->work[0] : it->x;
  step.w    = term->weight;
  step.d    = direction ? it->work[1] : NULL;
  step.keep = term->keep;
  PetscCall(KCycleDeviceStencilStep(it->st, &step));
  it->now  = step.y;
  it->zero = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of jacobi.c and chebyshev.c */
static PetscErrorCode SweepsPolynomial(const KCycleSmoother *s, PetscInt its, Iterate *it)
{
  const PetscBool   direction = (PetscBool)(s->kind == KCYCLE_SWEEPS_CHEBYSHEV);
  PetscInt          nterms;
  const KCycleTerm *term = KCyclePolynomialTerms(s, &nterms);

  PetscFunctionBegin;
  PetscCall(IterateBegin(it, its * nterms));
  for (PetscInt i = 0; i < its * nterms; i++) PetscCall(IterateStep(it, &term[i % nterms], direction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Those of one colour, with the exchange of the halo of x unless that counts as zero */
static PetscErrorCode RelaxColour(const KCycleDeviceStencil *st, const KCycleCudaColour *colour)
{
  const KCycleDeviceGrid *grid    = st->grid;
  const PetscBool         corners = (PetscBool)(st->st.shape.box != 0),
                  overlaps        = (PetscBool)(grid->overlaps && !colour->zeroguess);

  PetscFunctionBegin;
  if (!colour->zeroguess) PetscCall(KCycleDeviceGridExchangeBegin(grid, corners, colour->x));
  if (overlaps) KCycleCallKernel(KCycleCudaRelaxColourPart, &st->st, colour, &grid->pairs.inner);
  if (!colour->zeroguess) PetscCall(KCycleDeviceGridExchangeEnd(grid, corners));
  if (overlaps) KCycleCallKernel(KCycleCudaRelaxColourPart, &st->st, colour, &grid->pairs.rim);
  else KCycleCallKernel(KCycleCudaRelaxColour, &st->st, colour);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One sweep: colours in their order, or in the reverse one */
static PetscErrorCode SweepColours(const KCycleDeviceStencil *st, const KCycleSmoother *s, PetscBool backward,
                                   KCycleCudaColour *colour)
{
  const PetscInt n = colour->each ? 1 << s->st->box->dim : 2;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; c++) {
    colour->colour = backward ? n - 1 - c : c;
    PetscCall(RelaxColour(st, colour));
    colour->zeroguess = 0;
  }
  PetscCall(PetscLogGpuFlops((2.0 * st->st.shape.ncoeffs + 3) * st->st.box.npoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsColours(const KCycleDeviceStencil *st, const KCycleSmoother *s, const KCycleSweeps *sweeps,
                                    const KCScalar *b, KCScalar *x)
{
  const KCycleBox *box = s->st->box;
  KCycleCudaColour colour;

  PetscFunctionBegin;
  colour.b         = b;
  colour.x         = x;
  colour.w         = (KCScalar)s->weight;
  colour.zeroguess = sweeps->zeroguess ? 1 : 0;
  colour.each      = s->kind == KCYCLE_SWEEPS_COLOURS ? 1 : 0;
  for (int d = 0; d < 3; d++) colour.parity[d] = d < box->dim ? (box->start[d] + s->origin[d]) & 1 : 0;
  for (PetscInt i = 0; i < KCycleSweepsTurns(sweeps); i++)
    PetscCall(SweepColours(st, s, KCycleSweepsTurnsBack(sweeps, i), &colour));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(void *ctx, const KCycleStencil *st, KCScalar *x)
{
  PetscFunctionBegin;
  (void)ctx;
  KCycleCallKernel(KCycleCudaZero, st->box->npoints, x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SweepsOf(void *ctx, KCycleSmoother *s, const KCycleSweeps *sweeps, const KCScalar *b, KCScalar *x)
{
  const KCycleDeviceWork *w = (const KCycleDeviceWork *)ctx;

  PetscFunctionBegin;
  PetscCall(KCycleDeviceStencilSweeps(w->st, s, sweeps, b, x, w->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x <- sweeps(x). work: as many vectors as the smoother needs. It has its copy */
PetscErrorCode KCycleDeviceStencilSweeps(const KCycleDeviceStencil *st, KCycleSmoother *s, const KCycleSweeps *sweeps,
                                         const KCScalar *b, KCScalar *x, KCScalar *const work[2])
{
  KCycleDeviceWork         ctx    = {st, work};
  const KCycleSweepKernels device = {&ctx, Zero, SweepsOf, KCycleDevicePlanesRelax, KCycleDeviceClustersCorrect};
  Iterate                  it     = {st, b, x, NULL, {work[0], work[1]}, sweeps->zeroguess};

  PetscFunctionBegin;
  if (!sweeps->its) {
    if (sweeps->zeroguess) PetscCall(Zero(NULL, s->st, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  switch (s->kind) {
  case KCYCLE_SWEEPS_JACOBI:
  case KCYCLE_SWEEPS_CHEBYSHEV:
    PetscCall(SweepsPolynomial(s, sweeps->its, &it));
    break;
  case KCYCLE_SWEEPS_REDBLACK:
  case KCYCLE_SWEEPS_COLOURS:
    PetscCall(SweepsColours(st, s, sweeps, b, x));
    break;
  case KCYCLE_SWEEPS_ZEBRA:
    PetscCall(KCycleDeviceLinesSweeps(st, s, sweeps, b, x, work[0]));
    break;
  case KCYCLE_SWEEPS_PLANES:
    PetscCall(KCyclePlanesSweeps(s, &device, sweeps, b, x));
    break;
  case KCYCLE_SWEEPS_CLUSTERS:
    PetscCall(KCycleClustersSweeps(s, &device, sweeps, b, x));
    break;
  default:
    SETERRQ(s->comm, PETSC_ERR_PLIB, "The smoother %s has no kernels for devices", s->name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
