/*
  The policy of PCKCYCLE: all thresholds in one table, and the decisions that are made with them from facts, what one
  look at an operator has found.

  A threshold earns its place on bench/battery.py as a whole. An entry: name, value, what it decides and why, the option
  that overrides the decision, the test that notices another value.
*/
#pragma once

#include <petsckcycle.h>
#include <petsckcycle/private/factsimpl.h>

#define KCYCLE_POLICY(REAL, INT)                                                                                       \
  REAL(KCYCLE_STRONG, 0.6,                                                                                             \
       "directions whose couplings are weaker than this part of the strongest are not coarsened: point smoothers do "  \
       "not smooth along them",                                                                                        \
       "-pc_kcycle_semicoarsen", "policy")                                                                             \
  REAL(KCYCLE_KEPT, 0.15,                                                                                              \
       "levels that are there keep their grids and the shape of their operators until what decided about these is "    \
       "beyond its threshold by this part of that: what hovers at a threshold does not build levels anew each time",   \
       "", "policy")                                                                                                   \
  REAL(KCYCLE_LINES, 0.05,                                                                                             \
       "lines are relaxed along a direction beside which one that is coarsened is weak, by a factor of 10, at this "   \
       "part of the points: there point smoothers do not smooth; interpolation that follows the operator is solved "   \
       "for along it, too",                                                                                            \
       "-pc_kcycle_anisotropy", "policy")                                                                              \
  REAL(KCYCLE_RUNS, 0.005,                                                                                             \
       "in two dimensions, where lines cost little more than points, lines are relaxed also where this part of the "   \
       "points are weak so, and form runs along the strong direction, as on stretched grids and in layers",            \
       "-pc_kcycle_anisotropy", "policy")                                                                              \
  REAL(KCYCLE_PLANES, 0.005,                                                                                           \
       "planes are relaxed across a coarsened direction in which lines leave, at this part of the points, nearly all " \
       "of an error that oscillates from plane to plane: they take as long as five iterations by lines",               \
       "-pc_kcycle_anisotropy", "policy")                                                                              \
  REAL(KCYCLE_PLANES_JUMPS, 0.02,                                                                                      \
       "the same where coefficients jump: there other errors take iterations, too, and planes save fewer of them",     \
       "-pc_kcycle_anisotropy", "policy")                                                                              \
  REAL(KCYCLE_PLANES_OTHERS, 0.25,                                                                                     \
       "where planes are relaxed across one direction they are relaxed across another one, too, from this part of "    \
       "the threshold for the first on: an error that is left in one takes as many iterations as one in all",          \
       "-pc_kcycle_anisotropy", "policy")                                                                              \
  INT(KCYCLE_PLANES_SWEEPS, 3, "of lines on such an error, at most, until little of it is left",                       \
      "-pc_kcycle_anisotropy", "anisotropy")                                                                           \
  REAL(KCYCLE_ROUNDED, 0.05,                                                                                           \
       "levels are in single precision where its rounding of a residual is at most this part of a right side of the "  \
       "same size everywhere: with more, cycles converge more slowly",                                                 \
       "-pc_kcycle_precision", "precision")                                                                            \
  REAL(KCYCLE_ROUNDED_JUMP, 1e5,                                                                                       \
       "and where couplings of a point with opposite neighbours differ by this factor at most: of larger ones "        \
       "rounding leaves too little of the weaker one",                                                                 \
       "-pc_kcycle_precision", "precision")                                                                            \
  REAL(KCYCLE_JUMP, 3,                                                                                                 \
       "coefficients jump where couplings of a point with opposite neighbours differ by more than this factor: "       \
       "interpolation then follows the operator",                                                                      \
       "-pc_kcycle_interpolation", "policy")                                                                           \
  REAL(KCYCLE_STAR, 0.005,                                                                                             \
       "where one direction alone is coarsened, by interpolation that follows the operator, the product of a star is " \
       "collapsed to a star, unless at this part of the points a coupling along that direction is weaker than one "    \
       "across: there coarse points are coupled strongly with diagonal neighbours, which a star does not have",        \
       "-pc_kcycle_interpolation", "policy")                                                                           \
  REAL(KCYCLE_SKEW, 1e-3,                                                                                              \
       "there is convection where couplings of two points with each other differ by this part of their sums: "         \
       "interpolation follows the operator, on all levels, as linear weights make coarse operators that oscillate",    \
       "-pc_kcycle_interpolation", "wind")                                                                             \
  REAL(KCYCLE_DRIFT, 0.3,                                                                                              \
       "with convection lines are relaxed along all directions where couplings ahead and behind differ by this part "  \
       "of their sums in one of them, a cell Peclet number of 0.9. Where couplings of pairs of points differ so in "   \
       "the mean, no clusters are looked for: what jumps there is the wind",                                           \
       "-pc_kcycle_anisotropy", "wind")                                                                                \
  INT(KCYCLE_KAPPA_CONVECTION, 2,                                                                                      \
      "with convection, if the first coarser grid has at most a quarter of the points: coarse grids carry errors "     \
      "along the wind at half of their size",                                                                          \
      "-pc_kcycle_kappa", "wind")                                                                                      \
  INT(KCYCLE_COARSEST, 3, "the coarsest grid has at most so many points in each direction, if it can be had",          \
      "-pc_mg_levels", "policy")                                                                                       \
  INT(KCYCLE_COARSEST_ROWS, 500,                                                                                       \
      "levels of ordinary matrices: a direct solver is faster than further levels, and sees coefficients better",      \
      "-pc_mg_levels", "policy")                                                                                       \
  INT(KCYCLE_FEW_POINTS, 5,                                                                                            \
      "levels of the DM: a grid of so many points in its longest direction is small enough for a direct solver",       \
      "-pc_mg_levels", "policy")                                                                                       \
  REAL(KCYCLE_CLOSED, 0.1,                                                                                             \
       "a boundary is closed if the row sum in excess of that of the next point is less than this part of the "        \
       "coupling inward",                                                                                              \
       "-pc_kcycle_grid", "policy")                                                                                    \
  REAL(KCYCLE_EXCESS, 0.01,                                                                                            \
       "beside a boundary, weights of a point with a smaller excess of its row sum, relative to its diagonal, "        \
       "add up to one",                                                                                                \
       "", "weights")                                                                                                  \
  REAL(KCYCLE_FILL, 1e-8,                                                                                              \
       "isolated points get this part of the usual couplings on coarser levels, so that "                              \
       "points between them have something to be interpolated from; smaller than reactions that hold islands",         \
       "", "inactive")                                                                                                 \
  REAL(KCYCLE_GAP, 1e-6, "in interpolation, a coupling of less than this part of the opposite one counts as missing",  \
       "", "inactive")                                                                                                 \
  INT(KCYCLE_SWEEPS, 2,                                                                                                \
      "before and behind the coarser levels: a second sweep costs less than the iterations that it saves",             \
      "-mg_levels_ksp_max_it", "policy")                                                                               \
  INT(KCYCLE_SWEEPS_SECOND, 3, "with kappa = 1 on the second level of full coarsening, but for 27 points",             \
      "-mg_levels_ksp_max_it", "policy")                                                                               \
  INT(KCYCLE_SWEEPS_COARSE, 4,                                                                                         \
      "with kappa = 1 on coarser ones, which cost little (variable V-cycle of Bramble and Pasciak)",                   \
      "-mg_levels_ksp_max_it", "policy")                                                                               \
  INT(KCYCLE_SWEEPS_LINES, 1, "of lines, each of which costs as much as several of points", "-mg_levels_ksp_max_it",   \
      "policy")                                                                                                        \
  INT(KCYCLE_SWEEPS_LINES_COARSE, 2, "of lines on coarse levels with kappa = 1", "-mg_levels_ksp_max_it", "policy")    \
  INT(KCYCLE_COARSE_LINES, 16,                                                                                         \
      "lines are relaxed so often on levels with so many times fewer points than the finest one: there they cost "     \
      "little",                                                                                                        \
      "-mg_levels_ksp_max_it", "policy")                                                                               \
  REAL(KCYCLE_ROOF_BANDWIDTH, 1e10, "bytes a second of memory, by which sweeps are chosen where no file has them",     \
       "-pc_kcycle_roofline", "predict")                                                                               \
  REAL(KCYCLE_ROOF_CACHED, 3e10, "the same of cache", "-pc_kcycle_roofline", "predict")                                \
  REAL(KCYCLE_ROOF_CACHE, 8e6, "bytes of cache that a process has", "-pc_kcycle_roofline", "predict")                  \
  REAL(KCYCLE_ROOF_PEAK, 1e10, "operations a second of the kernels of points in cache", "-pc_kcycle_roofline",         \
       "predict")                                                                                                      \
  REAL(KCYCLE_ROOF_LINES, 5e9, "and of sweeps of lines", "-pc_kcycle_roofline", "predict")                             \
  REAL(KCYCLE_ROOF_VISIT, 2e-7, "seconds of a visit of a tiny level", "-pc_kcycle_roofline", "predict")                \
  INT(KCYCLE_MAX_REPLICATED, 1000, "every process factors a coarsest problem of so many rows for itself",              \
      "-mg_coarse_pc_type", "processes")                                                                               \
  INT(KCYCLE_PROC_EQ_LIMIT, 1000,                                                                                      \
      "where processes have fewer points of a level in the mean, fewer of them go on: messages take longer then than " \
      "points",                                                                                                        \
      "-pc_kcycle_process_eq_limit", "agglomeration")                                                                  \
  INT(KCYCLE_GATHERED, 4000, "each process that goes on has so many points, if it can be had",                         \
      "-mg_gather_pc_telescope_reduction_factor", "agglomeration")                                                     \
  INT(KCYCLE_CALIBRATE, 4, "so many double F-cycles are timed: the median of fewer is worth nothing",                  \
      "-pc_kcycle_calibrate", "model")                                                                                 \
  REAL(KCYCLE_CALIBRATE_SECONDS, 0.02, "and more where they are short, as clocks and other programs disturb these",    \
       "-pc_kcycle_calibrate", "model")                                                                                \
  INT(KCYCLE_AUTO_STEPS, 8, "so many steps of Arnoldi's method for a kappa find its slowest error well enough",        \
      "-pc_kcycle_kappa", "autokappa")                                                                                 \
  INT(KCYCLE_AUTO_SMOOTH, 12, "V-cycles that smooth the start of these, as noise has little of slow errors",           \
      "-pc_kcycle_kappa", "autokappa")                                                                                 \
  REAL(KCYCLE_AUTO_GAIN, 0.03, "a larger kappa is not tried where the last one saved no more iterations",              \
       "-pc_kcycle_kappa", "autokappa")                                                                                \
  REAL(KCYCLE_ANOTHER, 0.1,                                                                                            \
       "an operator that turns what it makes of a vector by a larger sine is another one: kappa is chosen anew, and "  \
       "levels that unknowns share are tried again",                                                                   \
       "-pc_kcycle_kappa", "autokappa")                                                                                \
  INT(KCYCLE_TRIAL, 4,                                                                                                 \
      "cycles on A x = 0 tell whether unknowns of a point can share levels; errors are compared from the first one "   \
      "on, as noise has little of slow ones",                                                                          \
      "-pc_kcycle_hierarchy", "unknowns")                                                                              \
  REAL(KCYCLE_TRIAL_SLOW, 0.5,                                                                                         \
       "they cannot where these leave more than this part of errors of an unknown, unless more than this part of "     \
       "that is left when unknowns are solved for one by one",                                                         \
       "-pc_kcycle_hierarchy", "unknowns")                                                                             \
  REAL(KCYCLE_FALLBACK_JUMP, 3e4,                                                                                      \
       "only where coefficients jump by more do cycles converge so slowly that BoomerAMG is faster",                   \
       "-pc_kcycle_fallback", "fallback")                                                                              \
  REAL(KCYCLE_FALLBACK_CLUSTERS, 0.02,                                                                                 \
       "and, unless lines or planes are relaxed, only where clusters hold more than this part of the points",          \
       "-pc_kcycle_fallback", "fallback")                                                                              \
  INT(KCYCLE_FALLBACK_CYCLES, 3,                                                                                       \
      "cycles on A x = 0 from noise are measured, where coefficients jump beside clusters, lines or planes: fewer "    \
      "where "                                                                                                         \
      "less is left of it already than decides",                                                                       \
      "-pc_kcycle_fallback", "fallback")                                                                               \
  INT(KCYCLE_FALLBACK_AHEAD, 6,                                                                                        \
      "what so many would leave, if they went on as the last one, decides: how many errors are slow, and how slow",    \
      "-pc_kcycle_fallback", "fallback")                                                                               \
  REAL(KCYCLE_FALLBACK_LATER, 0.8, "of what the first one leaves each of the others leaves this part, or less",        \
       "-pc_kcycle_fallback", "fallback")                                                                              \
  REAL(KCYCLE_FALLBACK_LEFT, 0.036,                                                                                    \
       "BoomerAMG takes the place of cycles that would leave more than this part: on small grids it takes as long "    \
       "as they do, on large ones a fifth",                                                                            \
       "-pc_kcycle_fallback", "fallback")                                                                              \
  REAL(KCYCLE_FALLBACK_GROWN, 1.5, "that is measured again where iterations have grown by this factor",                \
       "-pc_kcycle_fallback", "fallback")                                                                              \
  INT(KCYCLE_FALLBACK_FEW, 5, "and from so many on: measuring costs three of them", "-pc_kcycle_fallback", "fallback") \
  REAL(KCYCLE_SUSPICIOUS, 100,                                                                                         \
       "a solve has converged by its norm alone where the residual has not come down by this factor, while that norm " \
       "has, and by this factor more: good preconditioners alone explain up to 5000 between the two, but with "        \
       "residuals that come down",                                                                                     \
       "", "unknowns")                                                                                                 \
  INT(KCYCLE_INVERTED, 512,                                                                                            \
      "on a device a coarsest problem of at most so many rows is solved by its inverse; an estimate, not measured on " \
      "a GPU",                                                                                                         \
      "-mg_coarse_pc_type", "device")                                                                                  \
  INT(KCYCLE_MAX_SVD_ROWS, 1000,                                                                                       \
      "a singular coarsest problem of PCGAMG of so many rows goes to SVD, which costs the cube: seconds",              \
      "-mg_coarse_pc_type", "singular")                                                                                \
  REAL(KCYCLE_JACOBI_PART, 2,                                                                                          \
       "Jacobi's damping is the best one for eigenvalues down to the bound over so many times the dimension",          \
       "-mg_levels_pc_relax_omega", "policy")                                                                          \
  REAL(KCYCLE_CHEBYSHEV_PART, 4,                                                                                       \
       "and Chebyshev polynomials are small down to the bound over so many times the dimension", "-pc_relax_degree",   \
       "relax")                                                                                                        \
  REAL(KCYCLE_COLOURS_COUPLED, 1.9,                                                                                    \
       "where an odd number of points wraps around, coloured sweeps are damped so that coupled points of one colour "  \
       "converge: 2 with a margin",                                                                                    \
       "-mg_levels_pc_relax_omega", "relax")                                                                           \
  INT(KCYCLE_BLOCK, 5000,                                                                                              \
      "levels on a device with fewer unknowns share one kernel, as launches take longer than their work: an estimate", \
      "-pc_kcycle_block_below", "device_block")                                                                        \
  INT(KCYCLE_MATRIX, 1100,                                                                                             \
      "what cycles do on a level on a device with fewer unknowns is a product with a matrix, which fits into the "     \
      "second-level cache (33^2 points: 9.5 MB): an estimate",                                                         \
      "-pc_kcycle_matrix_below", "device_matrix")                                                                      \
  INT(KCYCLE_OVERLAP, 250000,                                                                                          \
      "points of a level on a device that a process has in the mean, from which on halos travel while those inside "   \
      "are computed: below, the kernel of the rim takes longer than they do: an estimate",                             \
      "-pc_kcycle_overlap_above", "device_overlap")                                                                    \
  INT(KCYCLE_GHOSTS, 5000,                                                                                             \
      "a process computes as many ghost points as it owns, and so many more, rather than exchange halos for each "     \
      "step: so many take as long as a dozen messages",                                                                \
      "-pc_kcycle_ghost_points", "ghosts")                                                                             \
  REAL(KCYCLE_CLUSTER_JUMP, 30,                                                                                        \
       "on the finest level the search for clusters starts at points whose couplings with opposite neighbours differ " \
       "by more than this factor, on a level with a quarter of the points a quarter of it, but KCYCLE_JUMP at least: " \
       "the search takes longer on large levels, and saves as many iterations",                                        \
       "-mg_levels_pc_relax_clusters", "jumps")                                                                        \
  INT(KCYCLE_CLUSTER_POINTS, 1000,                                                                                     \
      "points of the largest clusters: coarse grids see larger groups, but islands and branches in mixtures",          \
      "-mg_levels_pc_relax_clusters", "jumps")                                                                         \
  INT(KCYCLE_CLUSTER_POINTS_3D, 500, "the same in three dimensions, where the search remembers more for each",         \
      "-mg_levels_pc_relax_clusters", "jumps")                                                                         \
  REAL(KCYCLE_PLANES_LEFT, 0.9, "of an error at a point: so much counts as nearly all", "-pc_kcycle_anisotropy",       \
       "anisotropy")                                                                                                   \
  INT(KCYCLE_STRIP_BYTES, 400000,                                                                                      \
      "of a second-level cache that the lines of a strip may take, on which the steps of a pass run behind each "      \
      "other",                                                                                                         \
      "", "pass")                                                                                                      \
  INT(KCYCLE_TILE_BYTES, 4000000, "of the caches that the planes of a red-black tile may take", "", "tiles")           \
  INT(KCYCLE_COLUMNS_BYTES, 3200000,                                                                                   \
      "of a cache that the residuals of lines in y may take which are solved together in 2D, where systems are the "   \
      "same: measured at 1024^2 and 2048^2",                                                                           \
      "", "ylines")                                                                                                    \
  INT(KCYCLE_COLUMNS, 32, "and there are so many lines of a colour at least", "", "ylines")                            \
  INT(KCYCLE_COLUMNS_AHEAD, 5, "rows of these are asked for so early", "", "ylines")                                   \
  INT(KCYCLE_ROWS_AHEAD, 2, "and points of lines in 3D whose two colours share a residual: measured at 64^3, 100^3",   \
      "", "zebra")                                                                                                     \
  INT(KCYCLE_BLOCK_AHEAD, 3, "and those of one colour", "", "zebra")                                                   \
  INT(KCYCLE_ROWS_SHARED, 2, "so many sweeps of a pass over the same lines have room for what both colours share", "", \
      "zebra")                                                                                                         \
  INT(KCYCLE_BLOCK_LINES, 1024,                                                                                        \
      "lines in y or z that are solved together, at most: rows are long, so that memory is read in order", "",         \
      "zebra")                                                                                                         \
  INT(KCYCLE_MARCH_TERMS, 4, "terms of polynomials that go through the grid in one march, if a sweep has no more", "", \
      "relax")                                                                                                         \
  REAL(KCYCLE_DEVICE_NODE, 0.6e-6,                                                                                     \
       "seconds of a node of a graph, by which tiles of a device are chosen: an estimate, as all that follow", "",     \
       "device_parts")                                                                                                 \
  REAL(KCYCLE_DEVICE_KERNEL, 1e-6, "of the shortest kernel", "", "device_parts")                                       \
  REAL(KCYCLE_DEVICE_STEP, 0.25e-6, "of a step of a block: a barrier and a point, 220 cycles, doubled", "",            \
       "device_parts")                                                                                                 \
  REAL(KCYCLE_DEVICE_POINT, 0.5e-9, "of a point: 100 instructions, of which a processor does 128 a cycle", "",         \
       "device_parts")                                                                                                 \
  REAL(KCYCLE_DEVICE_BANDWIDTH, 3.35e12, "bytes a second of a device's memory", "", "device_parts")

#define KCYCLE_POLICY_NONE(name, value, reason, option, test)
#define KCYCLE_POLICY_REAL(name, value, reason, option, test) static const PetscReal name = value;
#define KCYCLE_POLICY_INT(name, value, reason, option, test)  name = value,
KCYCLE_POLICY(KCYCLE_POLICY_REAL, KCYCLE_POLICY_NONE)
enum {
  KCYCLE_POLICY(KCYCLE_POLICY_NONE, KCYCLE_POLICY_INT)
};
#undef KCYCLE_POLICY_NONE
#undef KCYCLE_POLICY_REAL
#undef KCYCLE_POLICY_INT

/* What a boundary of a structured grid is */
typedef enum {
  KCYCLE_BOUNDARY_ELIMINATED, /* the next point beyond it is a Dirichlet point that is not stored */
  KCYCLE_BOUNDARY_STORED,     /* its points are Dirichlet points */
  KCYCLE_BOUNDARY_NEUMANN     /* no flux */
} KCycleBoundary;

/* What the boundaries of the grid in one direction look like; second index: 1 for points that others are near to */
typedef struct {
  PetscReal excess[2][2]; /* of the row sums at the low and the high one over those of the next points, summed up */
  PetscReal inward[2][2]; /* sum of the couplings of these points with the next ones */
  PetscReal coupled[2];   /* number of these points that are coupled to any other */
} KCycleBoundaryFacts;

/* What sweeps depend on */
typedef struct {
  PetscInt  dim, ncoeffs;  /* of the level */
  PetscInt  ratio;         /* points than on the finest grid, by this factor */
  PetscBool revisits;      /* cycles come to coarser levels more than once */
  PetscBool lines, planes; /* sweeps relax lines, planes */
  PetscBool cut;           /* lines of the finest grid are broken by inactive points */
  PetscInt  asked;         /* sweeps on the finest level that were chosen otherwise; 0: none */
} KCycleSweepFacts;

/* policy.c */
PETSC_INTERN PetscErrorCode KCyclePolicyView(PetscViewer);
/* What was decided the last time, where levels are there */
typedef enum {
  KCYCLE_WAS_NOT     = -1,
  KCYCLE_WAS_UNKNOWN = 0,
  KCYCLE_WAS         = 1
} KCycleWas;

static inline KCycleWas KCycleWasThere(PetscBool known, PetscBool was)
{
  return !known ? KCYCLE_WAS_UNKNOWN : was ? KCYCLE_WAS : KCYCLE_WAS_NOT;
}

PETSC_INTERN KCycleBoundary KCyclePolicyBoundary(const KCycleBoundaryFacts *, int side, PCKCycleGridType,
                                                 KCycleWas closed);
PETSC_INTERN PetscBool      KCyclePolicyCutsLines(const KCycleScan *);
PETSC_INTERN PetscBool      KCyclePolicyCoarsensWeak(const KCycleScan *, PetscBool cut, int d);
PETSC_INTERN void      KCyclePolicyDirections(const PetscReal mean[], const PetscBool couples[], const PetscBool cut[],
                                              const char named[], const KCycleWas coarsened[], PetscInt factor[]);
PETSC_INTERN PetscBool KCyclePolicySeeksRuns(const KCycleScan *, const PetscInt factor[]);
PETSC_INTERN void      KCyclePolicyLines(const KCycleScan *, PetscBool convects, const PetscInt factor[],
                                         char directions[4]);
PETSC_INTERN int       KCyclePolicyLineWeights(const KCycleScan *, const PetscInt factor[], int S);
PETSC_INTERN PetscBool KCyclePolicyTriesPlanes(const KCycleScan *, const PetscInt factor[], int d);
PETSC_INTERN void      KCyclePolicyPlanes(const KCycleScan *, const PetscReal left[], char planes[4], char lines[4]);
PETSC_INTERN PetscBool KCyclePolicyJumps(const KCycleScan *, KCycleWas);
PETSC_INTERN PetscBool KCyclePolicyConvects(const KCycleScan *, KCycleWas);
PETSC_INTERN PetscBool KCyclePolicyStar(const KCycleScan *, PetscBool linear, PetscBool convects,
                                        const PetscInt factor[], KCycleWas);
PETSC_INTERN PetscInt  KCyclePolicyKappa(PetscBool convects, PetscBool planes, const PetscInt factor[]);
PETSC_INTERN PetscBool KCyclePolicyIsCoarsest(const PetscInt size[]);
PETSC_INTERN PetscInt  KCyclePolicySweeps(const KCycleSweepFacts *);
PETSC_INTERN PetscReal KCyclePolicyAhead(PetscInt cycles, PetscReal left, PetscReal last);
PETSC_INTERN PetscInt  KCyclePolicyReduction(PetscInt rows, PetscInt processes);
