/*
  petsc-kcycle: what the plugin libpetsckcycle.so adds to PETSc.

  A program that chooses by options needs none of this: -dll_append /path/to/libpetsckcycle.so -pc_type kcycle
*/
#pragma once

#include <petscksp.h>

/* Types */
#define PCKCYCLE           "kcycle"
#define PCRELAX            "relax"
#define PCINCPOISSON       "incpoisson"
#define PCFASTPOISSON      "fastpoisson"
#define PCDEFLSUB          "deflsub"
#define MATSTENCIL         "stencil"
#define MATSTENCILTRANSFER "stenciltransfer"
#define KSPDPCG            "dpcg"
#define KSPKCG             "kcg"

/* The kappa of a W-cycle: more than any number of levels */
#define PC_KCYCLE_KAPPA_W        2147483647
/* The kappa that is cheapest by estimates, see PCKCycleSetKappa() */
#define PC_KCYCLE_KAPPA_AUTO     (-1)
/* Sweeps as on most structured levels, and those that are cheapest by a model, see PCKCycleSetSweeps() */
#define PC_KCYCLE_SWEEPS_DEFAULT 0
#define PC_KCYCLE_SWEEPS_AUTO    (-1)

/*E
  PCKCycleHierarchyType - where `PCKCYCLE` takes its levels from

  Values:
+ `PC_KCYCLE_HIERARCHY_AUTO`   - the first that fits: interpolations given through the `PCMG` interface, structured
      levels, coarser grids, the `DM`, `PCGAMG`, a single level
. `PC_KCYCLE_HIERARCHY_DM`     - a `DM`: structured levels where they fit, else `DMCoarsen()`
. `PC_KCYCLE_HIERARCHY_USER`   - interpolations given with `PCMGSetInterpolation()` or `PCMGSetRestriction()`
. `PC_KCYCLE_HIERARCHY_GAMG`   - `PCGAMG` builds the levels from the matrix
. `PC_KCYCLE_HIERARCHY_GRID`   - coarser grids of a `DMDA`, of any size, with ordinary matrices
. `PC_KCYCLE_HIERARCHY_SINGLE` - none: the coarse solver alone
- `PC_KCYCLE_HIERARCHY_UNKNOWNS` - several unknowns at a point of a `DMDA`, one by one: a level for all of them, and
      below it a `PCFIELDSPLIT` with a `PCKCYCLE` for each

  Level: beginner

.seealso: `PCKCYCLE`, `PCKCycleSetHierarchy()`
E*/
typedef enum {
  PC_KCYCLE_HIERARCHY_AUTO,
  PC_KCYCLE_HIERARCHY_DM,
  PC_KCYCLE_HIERARCHY_USER,
  PC_KCYCLE_HIERARCHY_GAMG,
  PC_KCYCLE_HIERARCHY_GRID,
  PC_KCYCLE_HIERARCHY_SINGLE,
  PC_KCYCLE_HIERARCHY_UNKNOWNS
} PCKCycleHierarchyType;
PETSC_EXTERN const char *const PCKCycleHierarchyTypes[];

/*E
  PCKCycleInterpolationType - interpolation between structured levels

  Values:
+ `PC_KCYCLE_INTERPOLATION_AUTO`     - operator on a level where the couplings of some point with its two neighbours in
      a direction differ by more than a factor of three, linear on others
. `PC_KCYCLE_INTERPOLATION_LINEAR`   - linear, bilinear, trilinear
. `PC_KCYCLE_INTERPOLATION_SIMPLEX`  - linear on triangles and tetrahedra: the 7-point and 15-point transfers of Feng
      and others, equation (4.7)
. `PC_KCYCLE_INTERPOLATION_CONSTANT` - a fine point has the value of the coarse point that it coincides with, or that
      lies before it
- `PC_KCYCLE_INTERPOLATION_OPERATOR` - weights follow from the operator (Alcouffe, Brandt, Dendy, Painter; BoxMG)

  Level: intermediate

.seealso: `PCKCYCLE`, `MATSTENCILTRANSFER`
E*/
typedef enum {
  PC_KCYCLE_INTERPOLATION_AUTO,
  PC_KCYCLE_INTERPOLATION_LINEAR,
  PC_KCYCLE_INTERPOLATION_SIMPLEX,
  PC_KCYCLE_INTERPOLATION_CONSTANT,
  PC_KCYCLE_INTERPOLATION_OPERATOR
} PCKCycleInterpolationType;
PETSC_EXTERN const char *const PCKCycleInterpolationTypes[];

/*J
  PCRelaxType - String with the name of a smoother of `PCRELAX`

  Values:
+ `PC_RELAX_AUTO`        - `PC_RELAX_REDBLACK` for star stencils, `PC_RELAX_FOURCOLOR` or `PC_RELAX_EIGHTCOLOR` for box
      stencils; on levels of `PCKCYCLE` lines or planes where points do not do, see `PCKCycleSetAnisotropy()`
. `PC_RELAX_JACOBI`      - damped Jacobi
. `PC_RELAX_CHEBYSHEV`   - Chebyshev polynomial of the Jacobi iteration
. `PC_RELAX_REDBLACK`    - Gauss-Seidel in two colours, by the sum of the coordinates
. `PC_RELAX_FOURCOLOR`   - Gauss-Seidel in four colours, by the parities of two coordinates
. `PC_RELAX_EIGHTCOLOR`  - Gauss-Seidel in eight colours, by the parities of three coordinates
. `PC_RELAX_ZEBRA_X`     - zebra relaxation: lines along x are solved exactly, those of one parity before the others
. `PC_RELAX_ZEBRA_Y`     - the same with lines along y
. `PC_RELAX_ZEBRA_Z`     - the same with lines along z
. `PC_RELAX_ALTERNATING` - a zebra relaxation in each direction of the grid, x first
- `PC_RELAX_PLANES`      - zebra relaxation of the planes across each direction of a grid in 3D, x first: one cycle of
      `PCKCYCLE` in two dimensions for all planes of one parity, then for the others

  Level: beginner

.seealso: `PCRELAX`, `PCRelaxSetType()`, `PCRelaxRegister()`
J*/
typedef const char *PCRelaxType;
#define PC_RELAX_AUTO        "auto"
#define PC_RELAX_JACOBI      "jacobi"
#define PC_RELAX_CHEBYSHEV   "chebyshev"
#define PC_RELAX_REDBLACK    "redblack"
#define PC_RELAX_FOURCOLOR   "fourcolor"
#define PC_RELAX_EIGHTCOLOR  "eightcolor"
#define PC_RELAX_ZEBRA_X     "zebra_x"
#define PC_RELAX_ZEBRA_Y     "zebra_y"
#define PC_RELAX_ZEBRA_Z     "zebra_z"
#define PC_RELAX_ALTERNATING "alternating"
#define PC_RELAX_PLANES      "planes"

/* A smoother, see petsckcycle/private/smootherimpl.h */
typedef struct _KCycleSmoother KCycleSmoother;

/*E
  PCRelaxOrderType - the order of the colours in a sweep of `PCRELAX`

  Values:
+ `PC_RELAX_ORDER_FORWARD`   - the colour of the points that the next coarser grid keeps comes first
. `PC_RELAX_ORDER_BACKWARD`  - the reverse order
. `PC_RELAX_ORDER_SYMMETRIC` - a sweep is a forward one and a backward one
- `PC_RELAX_ORDER_AUTO` - forward in the sweeps of `KSPRICHARDSON`, symmetric elsewhere

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetOrder()`
E*/
typedef enum {
  PC_RELAX_ORDER_FORWARD,
  PC_RELAX_ORDER_BACKWARD,
  PC_RELAX_ORDER_SYMMETRIC,
  PC_RELAX_ORDER_AUTO
} PCRelaxOrderType;
PETSC_EXTERN const char *const PCRelaxOrderTypes[];

/*E
  PCRelaxClustersType - whether `PCRELAX` corrects clusters of strongly coupled points

  Values:
+ `PC_RELAX_CLUSTERS_AUTO` - behind sweeps in colours of points or lines, where the couplings of the operator jump
. `PC_RELAX_CLUSTERS_ON`   - behind all sweeps but Chebyshev polynomials, wherever there are clusters
- `PC_RELAX_CLUSTERS_OFF`  - never

  Level: intermediate

.seealso: `PCRELAX`, `PCRelaxSetClusters()`
E*/
typedef enum {
  PC_RELAX_CLUSTERS_AUTO,
  PC_RELAX_CLUSTERS_ON,
  PC_RELAX_CLUSTERS_OFF
} PCRelaxClustersType;
PETSC_EXTERN const char *const PCRelaxClustersTypes[];

/*E
  PCIncPoissonPatternType - which entries of its product `PCINCPOISSON` keeps

  Values:
+ `PC_INCPOISSON_PATTERN_MATRIX` - those that the operator has
- `PC_INCPOISSON_PATTERN_FULL`   - all

  Level: intermediate

.seealso: `PCINCPOISSON`, `PCIncPoissonSetPattern()`
E*/
typedef enum {
  PC_INCPOISSON_PATTERN_MATRIX,
  PC_INCPOISSON_PATTERN_FULL
} PCIncPoissonPatternType;
PETSC_EXTERN const char *const PCIncPoissonPatternTypes[];

/*E
  PCIncPoissonScalingType - how `PCINCPOISSON` scales the operator

  Values:
+ `PC_INCPOISSON_SCALING_DIAGONAL` - to a diagonal of ones, from both sides
- `PC_INCPOISSON_SCALING_NONE`     - not at all, as it was published

  Level: intermediate

.seealso: `PCINCPOISSON`, `PCIncPoissonSetScaling()`
E*/
typedef enum {
  PC_INCPOISSON_SCALING_DIAGONAL,
  PC_INCPOISSON_SCALING_NONE
} PCIncPoissonScalingType;
PETSC_EXTERN const char *const PCIncPoissonScalingTypes[];

/*E
  PCFastPoissonEffortType - how long FFTW looks for fast transforms at the set-up of `PCFASTPOISSON`

  Values:
+ `PC_FASTPOISSON_ESTIMATE` - not at all: by rules
. `PC_FASTPOISSON_MEASURE`  - some algorithms are timed
- `PC_FASTPOISSON_PATIENT`  - many are

  Level: intermediate

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetEffort()`
E*/
typedef enum {
  PC_FASTPOISSON_ESTIMATE,
  PC_FASTPOISSON_MEASURE,
  PC_FASTPOISSON_PATIENT
} PCFastPoissonEffortType;
PETSC_EXTERN const char *const PCFastPoissonEffortTypes[];

/*E
  PCFastPoissonTridiagonalType - the direction in which `PCFASTPOISSON` solves tridiagonal systems

  Values:
+ `PC_FASTPOISSON_TRIDIAGONAL_AUTO` - one that has no fast transform, else the slowest in memory
. `PC_FASTPOISSON_TRIDIAGONAL_NONE` - none: all directions are transformed
. `PC_FASTPOISSON_TRIDIAGONAL_X`    - x
. `PC_FASTPOISSON_TRIDIAGONAL_Y`    - y
- `PC_FASTPOISSON_TRIDIAGONAL_Z`    - z

  Level: intermediate

.seealso: `PCFASTPOISSON`, `PCFastPoissonSetTridiagonal()`
E*/
typedef enum {
  PC_FASTPOISSON_TRIDIAGONAL_AUTO,
  PC_FASTPOISSON_TRIDIAGONAL_NONE,
  PC_FASTPOISSON_TRIDIAGONAL_X,
  PC_FASTPOISSON_TRIDIAGONAL_Y,
  PC_FASTPOISSON_TRIDIAGONAL_Z
} PCFastPoissonTridiagonalType;
PETSC_EXTERN const char *const PCFastPoissonTridiagonalTypes[];

/*E
  PCKCycleStructuredType - whether `PCKCYCLE` builds structured levels on a `DMDA`

  Values:
+ `PC_KCYCLE_STRUCTURED_AUTO` - where grid, operator and smoothers allow it
. `PC_KCYCLE_STRUCTURED_ON`   - always; it is an error where they do not
- `PC_KCYCLE_STRUCTURED_OFF`  - never: levels are those of `PCMG`

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetStructured()`, `MATSTENCIL`
E*/
typedef enum {
  PC_KCYCLE_STRUCTURED_AUTO,
  PC_KCYCLE_STRUCTURED_ON,
  PC_KCYCLE_STRUCTURED_OFF
} PCKCycleStructuredType;
PETSC_EXTERN const char *const PCKCycleStructuredTypes[];

/*E
  PCKCycleAnisotropyType - how smoothers of `PCKCYCLE` treat couplings whose strong direction changes
  from place to place

  Values:
+ `PC_KCYCLE_ANISOTROPY_AUTO` - lines or planes are relaxed on structured levels that need it
- `PC_KCYCLE_ANISOTROPY_OFF`  - points are relaxed on all levels

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetAnisotropy()`
E*/
typedef enum {
  PC_KCYCLE_ANISOTROPY_AUTO,
  PC_KCYCLE_ANISOTROPY_OFF
} PCKCycleAnisotropyType;
PETSC_EXTERN const char *const PCKCycleAnisotropyTypes[];

/*E
  PCKCycleFallbackType - what `PCKCYCLE` does where its cycles converge too slowly

  Values:
+ `PC_KCYCLE_FALLBACK_AUTO` - that is measured where it may be so, and BoomerAMG takes their place
- `PC_KCYCLE_FALLBACK_OFF`  - it stays with them

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetFallback()`
E*/
typedef enum {
  PC_KCYCLE_FALLBACK_AUTO,
  PC_KCYCLE_FALLBACK_OFF
} PCKCycleFallbackType;
PETSC_EXTERN const char *const PCKCycleFallbackTypes[];

/*E
  PCKCyclePrecisionType - the precision that the cycle of `PCKCYCLE` computes with

  Values:
+ `PC_KCYCLE_PRECISION_DOUBLE` - that of PETSc's numbers
. `PC_KCYCLE_PRECISION_SINGLE` - all levels in single precision, the coarsest problem excepted
- `PC_KCYCLE_PRECISION_AUTO`   - single where the problem allows it, else that of PETSc's numbers

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetPrecision()`
E*/
typedef enum {
  PC_KCYCLE_PRECISION_DOUBLE,
  PC_KCYCLE_PRECISION_SINGLE,
  PC_KCYCLE_PRECISION_AUTO
} PCKCyclePrecisionType;
PETSC_EXTERN const char *const PCKCyclePrecisionTypes[];

/*E
  PCKCycleFMGInterpolationType - how full multigrid takes a solution to the next finer level of `PCKCYCLE`

  Values:
+ `PC_KCYCLE_FMG_LINEAR` - with the interpolation that corrections have
- `PC_KCYCLE_FMG_CUBIC`  - with polynomials through the four nearest points of each direction

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetFMGInterpolation()`
E*/
typedef enum {
  PC_KCYCLE_FMG_LINEAR,
  PC_KCYCLE_FMG_CUBIC
} PCKCycleFMGInterpolationType;
PETSC_EXTERN const char *const PCKCycleFMGInterpolationTypes[];

/*E
  PCKCyclePlaceType - where the structured levels of `PCKCYCLE` live

  Values:
+ `PC_KCYCLE_PLACE_AUTO`   - on the device where vectors are there and the finest smoother has kernels for it
. `PC_KCYCLE_PLACE_HOST`   - on the host, vectors of a device are copied
- `PC_KCYCLE_PLACE_DEVICE` - on the device, vectors of the host are copied

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetPlace()`
E*/
typedef enum {
  PC_KCYCLE_PLACE_AUTO,
  PC_KCYCLE_PLACE_HOST,
  PC_KCYCLE_PLACE_DEVICE
} PCKCyclePlaceType;
PETSC_EXTERN const char *const PCKCyclePlaceTypes[];

/*E
  PCKCycleGridType - where the points of a structured grid lie, and which of them the next coarser grid keeps

  Values:
+ `PC_KCYCLE_GRID_AUTO`     - found from the rows of the operator at the boundaries, in each direction
. `PC_KCYCLE_GRID_VERTEX`   - boundary points are stored; every second point is kept, from the first on
. `PC_KCYCLE_GRID_INTERIOR` - boundary points are left out; every second point is kept, from the second on
- `PC_KCYCLE_GRID_CELL`     - cells without flux through the boundary; every second cell is kept, from the first on

  Level: intermediate

.seealso: `PCKCYCLE`, `PCKCycleSetGrid()`
E*/
typedef enum {
  PC_KCYCLE_GRID_AUTO,
  PC_KCYCLE_GRID_VERTEX,
  PC_KCYCLE_GRID_INTERIOR,
  PC_KCYCLE_GRID_CELL
} PCKCycleGridType;
PETSC_EXTERN const char *const PCKCycleGridTypes[];

/*E
  PCDeflSubType - the subdomains of `PCDEFLSUB`

  Values:
+ `PC_DEFLSUB_STRIPE`    - unknowns that follow each other in the natural numbers of the grid
. `PC_DEFLSUB_BOX`       - boxes of the grid
. `PC_DEFLSUB_INTERFACE` - boxes cut along interfaces, where the coefficients of the operator jump
- `PC_DEFLSUB_USER`      - labels given with `PCDeflSubSetLabelIS()`

  Level: beginner

.seealso: `PCDEFLSUB`, `PCDeflSubSetType()`
E*/
typedef enum {
  PC_DEFLSUB_STRIPE,
  PC_DEFLSUB_BOX,
  PC_DEFLSUB_INTERFACE,
  PC_DEFLSUB_USER
} PCDeflSubType;
PETSC_EXTERN const char *const PCDeflSubTypes[];

/*E
  PCDeflSubFormType - how `PCDEFLSUB` combines the inner preconditioner M^-1, the correction Q = Z E^-1 Z^T and the
  projection P = I - A Q

  Values:
+ `PC_DEFLSUB_BNN`   - P^T M^-1 P + Q, balancing Neumann-Neumann: symmetric, for any start
. `PC_DEFLSUB_ADEF2` - P^T M^-1 + Q: one coarse solve less; needs the start Q b + P^T x, which `KSPSolve()` makes
- `PC_DEFLSUB_PT`    - P^T M^-1: Algorithm 8 of Gupta's thesis; needs the same start, and an accurate coarse solve

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetForm()`
E*/
typedef enum {
  PC_DEFLSUB_BNN,
  PC_DEFLSUB_ADEF2,
  PC_DEFLSUB_PT
} PCDeflSubFormType;
PETSC_EXTERN const char *const PCDeflSubFormTypes[];

/*E
  PCDeflSubCoarseType - how `PCDEFLSUB` solves with E = Z^T A Z

  Values:
+ `PC_DEFLSUB_COARSE_AUTO`    - inverse if E has at most 512 rows and the operator's vectors are of a CUDA type, factor
      otherwise
. `PC_DEFLSUB_COARSE_FACTOR`  - by the coarse solver, which by default factors E
- `PC_DEFLSUB_COARSE_INVERSE` - by a product with the dense inverse, which the coarse solver makes at set-up

  Level: intermediate

.seealso: `PCDEFLSUB`, `PCDeflSubSetCoarse()`
E*/
typedef enum {
  PC_DEFLSUB_COARSE_AUTO,
  PC_DEFLSUB_COARSE_FACTOR,
  PC_DEFLSUB_COARSE_INVERSE
} PCDeflSubCoarseType;
PETSC_EXTERN const char *const PCDeflSubCoarseTypes[];

/* Package */
PETSC_EXTERN PetscErrorCode KCycleInitializePackage(void);
PETSC_EXTERN PetscErrorCode KCycleFinalizePackage(void);

/* PCKCYCLE */
PETSC_EXTERN PetscErrorCode PCKCycleSetKappa(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCKCycleGetKappa(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCKCycleSetHierarchy(PC, PCKCycleHierarchyType);
PETSC_EXTERN PetscErrorCode PCKCycleGetHierarchy(PC, PCKCycleHierarchyType *);
PETSC_EXTERN PetscErrorCode PCKCycleGetLevelCalls(PC, PetscInt *, const PetscInt64 *[]);
PETSC_EXTERN PetscErrorCode PCKCycleComputeLevelCalls(PetscInt, PetscInt, PetscInt64 *);
PETSC_EXTERN PetscErrorCode PCKCycleComputeTotalCalls(PetscInt, PetscInt, PetscInt64 *);
PETSC_EXTERN PetscErrorCode PCKCycleSetStructured(PC, PCKCycleStructuredType);
PETSC_EXTERN PetscErrorCode PCKCycleGetStructured(PC, PCKCycleStructuredType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetPrecision(PC, PCKCyclePrecisionType);
PETSC_EXTERN PetscErrorCode PCKCycleGetPrecision(PC, PCKCyclePrecisionType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetPlace(PC, PCKCyclePlaceType);
PETSC_EXTERN PetscErrorCode PCKCycleGetPlace(PC, PCKCyclePlaceType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetGrid(PC, PCKCycleGridType);
PETSC_EXTERN PetscErrorCode PCKCycleGetGrid(PC, PCKCycleGridType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetInterpolation(PC, PCKCycleInterpolationType);
PETSC_EXTERN PetscErrorCode PCKCycleGetInterpolation(PC, PCKCycleInterpolationType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetSemicoarsen(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCKCycleGetSemicoarsen(PC, const char *[]);
PETSC_EXTERN PetscErrorCode PCKCycleSetAnisotropy(PC, PCKCycleAnisotropyType);
PETSC_EXTERN PetscErrorCode PCKCycleGetAnisotropy(PC, PCKCycleAnisotropyType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetFallback(PC, PCKCycleFallbackType);
PETSC_EXTERN PetscErrorCode PCKCycleGetFallback(PC, PCKCycleFallbackType *, PC *);
PETSC_EXTERN PetscErrorCode PCKCycleSetOvercorrect(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCKCycleGetOvercorrect(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCKCycleSetFMGInterpolation(PC, PCKCycleFMGInterpolationType);
PETSC_EXTERN PetscErrorCode PCKCycleGetFMGInterpolation(PC, PCKCycleFMGInterpolationType *);
PETSC_EXTERN PetscErrorCode PCKCycleSetFMGMonitor(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCKCycleGetFMGMonitor(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCKCycleSetFMGRhs(PC, PetscInt, Vec);
PETSC_EXTERN PetscErrorCode PCKCycleGetFMGRhs(PC, PetscInt, Vec *);
PETSC_EXTERN PetscErrorCode PCKCycleSetProfile(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCKCycleGetProfile(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCKCycleViewProfile(PC, PetscViewer);
PETSC_EXTERN PetscErrorCode PCKCycleSetProcEqLim(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCKCycleGetProcEqLim(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCKCycleSetGridSizes(PC, PetscInt, const PetscInt[]);
PETSC_EXTERN PetscErrorCode PCKCycleGetGridSizes(PC, PetscInt *, PetscInt[]);
PETSC_EXTERN PetscErrorCode PCKCycleSetCheck(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCKCycleGetCheck(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCKCycleSetCalibrate(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCKCycleGetCalibrate(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCKCyclePredictTime(PC, PetscInt, PetscReal *);
PETSC_EXTERN PetscErrorCode PCKCycleSetSweeps(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCKCycleGetSweeps(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCKCycleSetRoofline(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCKCycleGetRoofline(PC, const char *[]);
PETSC_EXTERN PetscErrorCode PCKCyclePredictFactor(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCKCycleComputeFactors(PCRelaxType, PetscReal, PetscInt, PetscInt, const PetscInt[],
                                                   PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode PCKCycleComputeCost(PetscInt, PetscReal, PetscReal, const PetscReal[], PetscInt *,
                                                PetscReal *, PetscReal[]);

/* PCRELAX */
PETSC_EXTERN PetscErrorCode PCRelaxSetType(PC, PCRelaxType);
PETSC_EXTERN PetscErrorCode PCRelaxGetType(PC, PCRelaxType *);
PETSC_EXTERN PetscErrorCode PCRelaxRegister(const char[], PetscErrorCode (*)(KCycleSmoother *));
PETSC_EXTERN PetscErrorCode PCRelaxSetOmega(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCRelaxGetOmega(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCRelaxSetOrder(PC, PCRelaxOrderType);
PETSC_EXTERN PetscErrorCode PCRelaxGetOrder(PC, PCRelaxOrderType *);
PETSC_EXTERN PetscErrorCode PCRelaxSetDegree(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCRelaxGetDegree(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCRelaxSetDirections(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCRelaxGetDirections(PC, const char *[]);
PETSC_EXTERN PetscErrorCode PCRelaxSetClusters(PC, PCRelaxClustersType);
PETSC_EXTERN PetscErrorCode PCRelaxGetClusters(PC, PCRelaxClustersType *);

/* PCINCPOISSON */
PETSC_EXTERN PetscErrorCode PCIncPoissonSetPattern(PC, PCIncPoissonPatternType);
PETSC_EXTERN PetscErrorCode PCIncPoissonGetPattern(PC, PCIncPoissonPatternType *);
PETSC_EXTERN PetscErrorCode PCIncPoissonSetScaling(PC, PCIncPoissonScalingType);
PETSC_EXTERN PetscErrorCode PCIncPoissonGetScaling(PC, PCIncPoissonScalingType *);

/* PCFASTPOISSON */
PETSC_EXTERN PetscErrorCode PCFastPoissonSetApproximate(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCFastPoissonGetApproximate(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCFastPoissonSetEffort(PC, PCFastPoissonEffortType);
PETSC_EXTERN PetscErrorCode PCFastPoissonGetEffort(PC, PCFastPoissonEffortType *);
PETSC_EXTERN PetscErrorCode PCFastPoissonSetTridiagonal(PC, PCFastPoissonTridiagonalType);
PETSC_EXTERN PetscErrorCode PCFastPoissonGetTridiagonal(PC, PCFastPoissonTridiagonalType *);
PETSC_EXTERN PetscErrorCode PCFastPoissonSetWisdomLoad(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCFastPoissonGetWisdomLoad(PC, const char *[]);
PETSC_EXTERN PetscErrorCode PCFastPoissonSetWisdomSave(PC, const char[]);
PETSC_EXTERN PetscErrorCode PCFastPoissonGetWisdomSave(PC, const char *[]);

/* PCDEFLSUB */
PETSC_EXTERN PetscErrorCode PCDeflSubSetType(PC, PCDeflSubType);
PETSC_EXTERN PetscErrorCode PCDeflSubGetType(PC, PCDeflSubType *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetForm(PC, PCDeflSubFormType);
PETSC_EXTERN PetscErrorCode PCDeflSubGetForm(PC, PCDeflSubFormType *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetCoarse(PC, PCDeflSubCoarseType);
PETSC_EXTERN PetscErrorCode PCDeflSubGetCoarse(PC, PCDeflSubCoarseType *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetBoxes(PC, PetscInt, PetscInt, PetscInt);
PETSC_EXTERN PetscErrorCode PCDeflSubGetBoxes(PC, PetscInt *, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetSize(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCDeflSubGetSize(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetJump(PC, PetscReal);
PETSC_EXTERN PetscErrorCode PCDeflSubGetJump(PC, PetscReal *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetLabelIS(PC, IS);
PETSC_EXTERN PetscErrorCode PCDeflSubGetLabelIS(PC, IS *);
PETSC_EXTERN PetscErrorCode PCDeflSubSetCoefficient(PC, Vec);
PETSC_EXTERN PetscErrorCode PCDeflSubGetCoefficient(PC, Vec *);
PETSC_EXTERN PetscErrorCode PCDeflSubGetPC(PC, PC *);
PETSC_EXTERN PetscErrorCode PCDeflSubGetCoarseKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCDeflSubGetNumber(PC, PetscInt *, PetscInt *);
PETSC_EXTERN PetscErrorCode PCDeflSubCorrect(PC, Vec, Vec);
PETSC_EXTERN PetscErrorCode PCDeflSubProject(PC, Vec, Vec);
PETSC_EXTERN PetscErrorCode PCDeflSubProjectTranspose(PC, Vec, Vec);
