/*
  The analysis and the roofline of the paper's model problem, the Laplacian: functions of numbers.
*/
#include "kcycleimpl.h"

/* false: there is no such smoother, or not in this dimension */
static PetscBool TakeType(const char type[], PetscReal omega, int dim, KCycleFourierLevel *level)
{
  const char *const lines[] = {PC_RELAX_ZEBRA_X, PC_RELAX_ZEBRA_Y, PC_RELAX_ZEBRA_Z};
  const PetscReal   jacobi  = 1 / (1 + 1 / (KCYCLE_JACOBI_PART * dim));

  level->kind        = KCYCLE_FOURIER_LINES;
  level->nterms      = 1;
  level->weight[0]   = omega > 0 ? omega : strcmp(type, PC_RELAX_JACOBI) ? 1 : jacobi;
  level->linecolours = 2;
  for (int d = 0; d < dim; d++) {
    if (!strcmp(type, PC_RELAX_ALTERNATING) || !strcmp(type, lines[d])) level->along[level->nlines++] = d;
  }
  if (level->nlines) return PETSC_TRUE;
  if (!strcmp(type, PC_RELAX_JACOBI)) level->kind = KCYCLE_FOURIER_POLYNOMIAL;
  else if (!strcmp(type, PC_RELAX_REDBLACK)) level->kind = KCYCLE_FOURIER_REDBLACK;
  else if (!strcmp(type, PC_RELAX_CHEBYSHEV)) KCycleFourierChebyshev(level, 2, 2, 2 / (KCYCLE_CHEBYSHEV_PART * dim));
  else if (!strcmp(type, dim == 3 ? PC_RELAX_EIGHTCOLOR : PC_RELAX_FOURCOLOR)) level->kind = KCYCLE_FOURIER_COLOURS;
  else return PETSC_FALSE;
  return PETSC_TRUE;
}

/*@C
  PCKCycleComputeFactors - Computes the factor of a cycle of two grids for the Laplacian, by local Fourier analysis.

  Not Collective

  Input Parameters:
+ type  - smoother: jacobi, chebyshev of degree 2, redblack, fourcolor in 2D, eightcolor in 3D, or lines
. omega - its damping; 0: that which `PCRELAX` takes
. dim   - 1, 2 or 3
. n     - intervals in each direction: frequencies are k pi / n
- nu    - sweeps before the coarse grid, and after it in the reverse order

  Output Parameters:
+ factor    - the largest spectral radius of the cycle; or NULL
- smoothing - the same of the sweeps on errors that the coarse grid does not see; or NULL

  Level: advanced

  Notes:
  The coarse operator is the Laplacian again, interpolation is linear, and restriction its transpose. For other
  operators, weights and levels see `PCKCyclePredictFactor()`.

  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer architectures,
  equations (3.16) and (3.19). With damped Jacobi of 4/5 and n = 1024 in 2D: 0.6, 0.36, 0.216 and 0.13657 for one sweep
  to four.

.seealso: `PCKCYCLE`, `PCKCyclePredictFactor()`, `PCKCycleComputeCost()`
@*/
PetscErrorCode PCKCycleComputeFactors(PCRelaxType type, PetscReal omega, PetscInt dim, PetscInt n, const PetscInt nu[],
                                      PetscReal *factor, PetscReal *smoothing)
{
  const PetscReal ones[3] = {1, 1, 1};
  KCycleFourier   f;
  PetscBool       sound = PETSC_TRUE;

  PetscFunctionBegin;
  PetscAssertPointer(type, 1);
  PetscAssertPointer(nu, 5);
  PetscCheck(dim >= 1 && dim <= 3, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The dimension must be 1, 2 or 3, not %" PetscInt_FMT, dim);
  PetscCheck(n >= 4, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "There must be at least 4 intervals, not %" PetscInt_FMT, n);
  PetscCheck(nu[0] >= 0 && nu[1] >= 0 && nu[0] + nu[1] > 0 && nu[0] + nu[1] <= 1000, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE,
             "There must be from 1 to 1000 sweeps in all, not %" PetscInt_FMT " and %" PetscInt_FMT, nu[0], nu[1]);
  PetscCall(PetscMemzero(&f, sizeof(f)));
  PetscCheck(TakeType(type, omega, (int)dim, &f.level[0]), PETSC_COMM_SELF, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "There is no analysis of the smoother %s in %" PetscInt_FMT " dimensions", type, dim);
  f.dim         = (int)dim;
  f.nlevels     = 2;
  f.kappa       = 1;
  f.overcorrect = 1;
  f.samples     = dim == 3 ? 4 : 8;
  for (int d = 0; d < 3; d++) {
    f.step[d]            = PETSC_PI / (PetscReal)n;
    f.level[0].factor[d] = d < dim ? 2 : 1;
    f.level[1].factor[d] = 1;
  }
  f.level[0].nu[0]   = (int)nu[0];
  f.level[0].nu[1]   = (int)nu[1];
  f.level[0].back[1] = PETSC_TRUE;
  KCycleFourierLaplacian((int)dim, ones, f.level[0].a);
  KCycleFourierLinear((int)dim, f.level[0].factor, PETSC_FALSE, f.level[0].p);
  KCycleFourierLaplacian((int)dim, ones, f.level[1].a);
  /* restriction sums up the residuals of 2^dim points, which are scaled by h^2 */
  for (int o = 0; o < 27; o++) f.level[1].a[o] *= (PetscReal)(1 << dim) / 4;
  if (factor) sound = KCycleFourierFactor(&f, factor);
  if (smoothing && sound) sound = KCycleFourierSmoothing(&f, smoothing);
  PetscCheck(sound, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The Laplacian is singular at a frequency");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCKCycleComputeCost - Computes what V-cycles with damped Jacobi in 2D come to, by operations and by the roofline.

  Not Collective

  Input Parameters:
+ nu        - sweeps, all before the coarse grids
. factor    - of a cycle, between 0 and 1
. tolerance - that errors are to be reduced to, between 0 and 1
- roofs     - bytes a second of memory, and operations a second at most

  Output Parameters:
+ cycles     - that it takes
. operations - of all of them, for each point of the finest grid
- seconds    - for each point of the finest grid: with sweeps one by one, and with tiled ones, which read and write each
               number once for all sweeps

  Level: advanced

  Note:
  Ghysels and Vanroose, Modeling the performance of geometric multigrid stencils on multicore computer architectures,
  equations (3.20), (3.21) and (4.2).

.seealso: `PCKCYCLE`, `PCKCycleComputeFactors()`, `PCKCycleSetRoofline()`
@*/
PetscErrorCode PCKCycleComputeCost(PetscInt nu, PetscReal factor, PetscReal tolerance, const PetscReal roofs[],
                                   PetscInt *cycles, PetscReal *operations, PetscReal seconds[])
{
  const PetscInt both[2] = {nu, 0};

  PetscFunctionBegin;
  PetscAssertPointer(roofs, 4);
  PetscAssertPointer(cycles, 5);
  PetscAssertPointer(operations, 6);
  PetscAssertPointer(seconds, 7);
  PetscCheck(nu > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "There must be at least 1 sweep, not %" PetscInt_FMT,
             nu);
  PetscCheck(factor > 0 && factor < 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The factor of a cycle must be between 0 and 1, not %g", (double)factor);
  PetscCheck(tolerance > 0 && tolerance < 1, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The tolerance must be between 0 and 1, not %g", (double)tolerance);
  PetscCheck(roofs[0] > 0 && roofs[1] > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Bandwidth and peak must be positive, not %g and %g", (double)roofs[0], (double)roofs[1]);
  *cycles     = KCycleRoofCycles(factor, tolerance);
  *operations = KCycleRoofOperations(nu, *cycles);
  for (int tiled = 0; tiled < 2; tiled++) {
    const KCycleRoofs both_roofs = {roofs[0], roofs[1]};

    seconds[tiled] = KCycleRoofCost(&both_roofs, both, *cycles, tiled ? PETSC_TRUE : PETSC_FALSE);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
