static char help[] =
    "One problem of the battery: diffusion on a grid, -div k grad u + w grad u + c u = f, solved by conjugate \
gradients, or GMRES where there is a wind w. bench/battery.py runs all of them.\n\
  -cells <64,64,64>            points in each direction; their number is the dimension\n\
  -ends <dd,dd,dd>             both ends of each direction: d Dirichlet half a cell away, v a whole cell away, s rows \
stored, n no flux, p periodic,\n\
                               i inlet (Dirichlet on half of the end), o outlet (on a small part)\n\
  -scheme <cells|elements>     finite volumes (5 or 7 points) or bilinear elements (9 or 27)\n\
  -h <1,1,1> -stretch <1,1,1>  width of the narrowest cells; each is -stretch times as wide as the next narrower one,\n\
  -fine <low|walls|middle>     narrowest there; at most 1000 times as wide as the narrowest\n\
  -k <1,1,1>                   diffusion in each direction; -turn <none|smooth|blocks> -turn_by <100>: x against the \
others, changing from place to place\n\
  -region <name:a:b> -contrast <1000>   the diffusion is -contrast times as large there. Regions:\n\
                               none all block:width square:side balls:number:radius \
scattered:number:radius mixed:part checker:width walls:every:gaps\n\
                               rooms:every:gaps fibres:part bodies:part:length channels:every:width \
channels_y:every:width inlet:part wells:number rim corners\n\
                               packing:number:size (spheres, packed as densely as they go and displaced a little; so \
many periods in x, size 1: they touch)\n\
  -layers <width:contrast>     each layer across the last direction has a diffusion of its own\n\
  -random <contrast>           each point has, between 1 and this\n\
  -sd <0> -length <10,10,2>    log-normal diffusion: standard deviation of ln k, correlation in cells\n\
  -bump <1>                    diffusion grows from 1 in a ball in the middle to this, smoothly: HPGMG's\n\
  -affinity <beta:noise>       couplings are exp(-beta (g - g')^2) times as large: g is 1 in -region, 0 elsewhere, and \
noise of this deviation\n\
  -inactive <region>           points there have no couplings\n\
  -reaction <0> -reactive <all>   c, and the region that has it; relative to the volume\n\
  -penalty <0> -held <rim>     added to the diagonal in this region\n\
  -wind <name:a>               none; constant; parabolic: along x between the ends of the last direction; \
layer:part: along x, slower near the low end of the last\n\
                               direction; recirculating:number of eddies in each direction; \
stirred:width of random eddies\n\
  -peclet <1> -angle <0,0>     its highest speed times the mean width of cells, over a diffusion of 1; degrees from x \
in the plane of x and y, and out of it\n\
  -convection <upwind|hybrid>  how its fluxes are taken\n\
  -source <random>             the right side: random numbers; sines: of HPGMG's solution; taylor_green: of the \
pressure of these vortices;\n\
                               rise: as the points of -region go up along the last direction; inlet: the value is 1 \
at the low end of x;\n\
                               injector: of a well in the middle; labels: the points of -held have the value 1 in \
-region, 0 elsewhere\n\
  -image                       the right side is the product with the one above: closed pockets of -inactive want it\n\
  -forget <dm|rows>            the solver is not told of the grid; rows: each process has as many, in their order\n\
  -with_dm                     PCMG gets coarser grids of the same problem, whose -ends are all s\n\
  -seed <1>                    of all that is random\n\
  -repeat <9> -patience <1>    runs, and seconds after which there is no further one\n\
  -device                      seconds that pass until a device has finished; one set-up, and of the solves but the \
first\n\
  -list <file> -from <0>       solves for the lines after these: name|options of the problem|options of the solver; \
a problem is kept while its options are\n\
  -keep                        the same, and with this the solver, which is told its options again\n\
  -picture <file> -across <z>  writes field and solution on a plane across this direction, at a quarter of it\n\
  -renew <0> -bits             solves more, each with larger diagonals; prints a number that each bit of the solution \
changes\n\n";

/*
  Every number is a function of places in the grid, so that any number of processes works on the same problem. Prints
  one line:

    result,<unknowns>,<iterations>,<reason>,<seconds of set-up>,<seconds of the solve>,<relative residual, computed
    afresh>

  Seconds are of a processor, of the slowest process: the least of the runs, as others on the machine can only add to
  them. With -device they are of the clock, and the first solve, in which cycles are recorded, does not count.
*/

#include "../tests/testing.h"
#include <petscdevice.h>
#include <petsckcycle/private/compat.h>
#include <dlfcn.h>
#include <time.h>

#define MAX_REPEAT 25

typedef enum {
  REGION_NONE,
  REGION_ALL,
  REGION_BLOCK,
  REGION_SQUARE,
  REGION_BALLS,
  REGION_SCATTERED,
  REGION_MIXED,
  REGION_CHECKER,
  REGION_WALLS,
  REGION_ROOMS,
  REGION_FIBRES,
  REGION_BODIES,
  REGION_CHANNELS,
  REGION_INLET,
  REGION_WELLS,
  REGION_RIM,
  REGION_CORNERS,
  REGION_PACKING,
  REGION_CHANNELS_Y
} RegionKind;
static const char *const RegionKinds[] = {"none",       "all",        "block",   "square", "balls",   "scattered",
                                          "mixed",      "checker",    "walls",   "rooms",  "fibres",  "bodies",
                                          "channels",   "inlet",      "wells",   "rim",    "corners", "packing",
                                          "channels_y", "RegionKind", "REGION_", NULL};

typedef enum {
  SOURCE_RANDOM,
  SOURCE_SINES,
  SOURCE_TAYLOR_GREEN,
  SOURCE_RISE,
  SOURCE_INLET,
  SOURCE_INJECTOR,
  SOURCE_LABELS
} SourceKind;
static const char *const SourceKinds[] = {"random",   "sines",  "taylor_green", "rise",    "inlet",
                                          "injector", "labels", "SourceKind",   "SOURCE_", NULL};

typedef enum {
  WIND_NONE,
  WIND_CONSTANT,
  WIND_PARABOLIC,
  WIND_LAYER,
  WIND_RECIRCULATING,
  WIND_STIRRED
} WindKind;
static const char *const WindKinds[] = {"none",    "constant", "parabolic", "layer", "recirculating",
                                        "stirred", "WindKind", "WIND_",     NULL};

typedef enum {
  CONVECTION_UPWIND,
  CONVECTION_HYBRID
} Convection;
static const char *const Convections[] = {"upwind", "hybrid", "Convection", "CONVECTION_", NULL};

typedef struct {
  WindKind   kind;
  Convection convection;
  PetscReal  a, peclet, angle[2];
} Wind;

/* A set of points, with its parameters */
typedef struct {
  RegionKind kind;
  PetscReal  a, b;
} Region;

typedef enum {
  FINE_LOW,
  FINE_WALLS,
  FINE_MIDDLE
} Fine;
static const char *const Fines[] = {"low", "walls", "middle", "Fine", "FINE_", NULL};

typedef enum {
  TURN_NONE,
  TURN_SMOOTH,
  TURN_BLOCKS
} Turn;
static const char *const Turns[] = {"none", "smooth", "blocks", "Turn", "TURN_", NULL};

typedef enum {
  SCHEME_CELLS,
  SCHEME_ELEMENTS
} Scheme;
static const char *const Schemes[] = {"cells", "elements", "Scheme", "SCHEME_", NULL};

typedef struct {
  PetscInt   dim, n[3], seed;
  Scheme     scheme;
  char       end[3][2];
  Fine       fine;
  PetscReal  h[3], stretch[3];
  PetscReal  k[3];
  Turn       turn;
  PetscReal  turn_by;
  Region     region, inactive, reactive, held;
  SourceKind source;
  PetscReal  bump, affinity, noise;
  PetscReal  contrast, layer_width, layer_contrast, random, sd, length[3], reaction, penalty;
  Wind       wind;
  PetscReal *width[3]; /* of cells, those beyond the ends first and last */
  PetscReal *place[3]; /* where cells begin, the last one ends at 1 */
  PetscReal  wide;     /* one over the mean width of cells in x */
  PetscReal  quantile; /* of the normal distribution: the part of the bodies of -inactive or -region */
} Problem;

/* The part of the grid that this process needs */
typedef struct {
  const Problem *p;
  PetscInt       start[3], width[3]; /* with one point more at each side */
  PetscReal     *k;                  /* [3] of each point or element: diffusion in each direction; 0: inactive */
} Grid;

static inline PetscReal Width(const Problem *p, PetscInt d, PetscInt i)
{
  return p->width[d][i + 1];
}

/* Random numbers */

/* Between 0 and 1, from the seed, a place and what it is for (the generator is splitmix64) */
static uint64_t Hash(const Problem *p, int what, PetscInt i, PetscInt j, PetscInt k)
{
  uint64_t       z    = (uint64_t)p->seed;
  const uint64_t v[4] = {(uint64_t)what, (uint64_t)(int64_t)i, (uint64_t)(int64_t)j, (uint64_t)(int64_t)k};

  for (int m = 0; m < 4; m++) {
    z += v[m] + UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
  }
  return z;
}

static PetscReal Uniform(const Problem *p, int what, PetscInt i, PetscInt j, PetscInt k)
{
  return (PetscReal)(Hash(p, what, i, j, k) >> 11) / 9007199254740992.0;
}

/* The sum of four uniform numbers, which is normal enough */
static PetscReal Normal(const Problem *p, int what, PetscInt i, PetscInt j, PetscInt k)
{
  const uint64_t z   = Hash(p, what, i, j, k);
  PetscReal      sum = 0;

  for (int m = 0; m < 4; m++) sum += (PetscReal)((z >> 16 * m) & 0xffff) / 65536.0;
  return (sum - 2) * PetscSqrtReal(3.0);
}

/* A normal field of variance 1: numbers at the points of a lattice as wide as the correlation is long, linear in
   between */
static PetscReal Noise(const Problem *p, int what, const PetscInt at[], const PetscReal length[])
{
  PetscInt  low[3]  = {0, 0, 0};
  PetscReal part[3] = {0, 0, 0}, sum = 0, squares = 0;

  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal x = at[d] / PetscMax(length[d], 1);

    low[d]  = (PetscInt)PetscFloorReal(x);
    part[d] = x - low[d];
  }
  for (int c = 0; c < 1 << p->dim; c++) {
    PetscReal w = 1;

    for (PetscInt d = 0; d < p->dim; d++) w *= (c >> d) & 1 ? part[d] : 1 - part[d];
    if (w == 0) continue;
    sum += w * Normal(p, what, low[0] + (c & 1), low[1] + ((c >> 1) & 1), low[2] + (c >> 2));
    squares += w * w;
  }
  return sum / PetscSqrtReal(squares);
}

/* A normal number is below this one with the given probability; by bisection */
static PetscReal Quantile(PetscReal part)
{
  PetscReal low = -8, high = 8;

  for (int i = 0; i < 60; i++) {
    const PetscReal middle = (low + high) / 2;

    if (0.5 * (1 + erf((double)middle / 1.4142135623730951)) < part) low = middle;
    else high = middle;
  }
  return low;
}

/* Regions */

/* Is the point in one of the balls? Their number and largest radius, in cells, are a and b. Centres are random, and
   radii, between half of the largest and this */
static PetscBool IsInScattered(const Problem *p, const Region *r, const PetscInt at[])
{
  for (PetscInt m = 0; m < (PetscInt)r->a; m++) {
    const PetscReal radius = r->b * (0.5 + 0.5 * Uniform(p, 3, m, 0, 0));
    PetscReal       away   = 0;

    for (PetscInt d = 0; d < p->dim; d++) away += PetscSqr(at[d] + 0.5 - p->n[d] * Uniform(p, 4, m, d, 0));
    if (away < radius * radius) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool IsInBall(const Problem *p, PetscReal number, PetscReal radius, const PetscInt at[])
{
  PetscReal away = 0;

  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal part = p->n[d] / number, x = at[d] + 0.5 - part * PetscFloorReal((at[d] + 0.5) / part) - part / 2;

    away += PetscSqr(x / part);
  }
  return (PetscBool)(away < radius * radius);
}

/* Walls one cell thick across the first direction, or across all; this part of their cells is open */
static PetscBool IsInWall(const Problem *p, const Region *r, PetscInt directions, const PetscInt at[])
{
  const PetscInt every = (PetscInt)r->a;

  for (PetscInt d = 0; d < directions; d++) {
    if (at[d] % every == every / 2) return (PetscBool)(Uniform(p, 5, at[0], at[1], at[2]) >= r->b);
  }
  return PETSC_FALSE;
}

/* Channels that wind along x: one in each strip of the second direction, of its own in each four layers of the third */
static PetscBool IsInChannel(const Problem *p, const Region *r, const PetscInt at[])
{
  const PetscInt  strip = (PetscInt)(at[1] / r->a), layer = p->dim == 3 ? at[2] / 4 : 0;
  const PetscReal wave =
      6.283185307179586 * (at[0] / (r->a * (2 + 2 * Uniform(p, 6, strip, layer, 0))) + Uniform(p, 7, strip, layer, 0));
  const PetscReal middle =
      r->a * (strip + 0.5) + (r->a - r->b) / 2 * PetscSinReal(wave) * Uniform(p, 8, strip, layer, 0);

  return (PetscBool)(PetscAbsReal(at[1] + 0.5 - middle) < r->b / 2);
}

/* A ragged surface: half of the variance would be too much of it */
static PetscBool IsInBody(const Problem *p, const Region *r, const PetscInt at[])
{
  const PetscReal length[3] = {r->b, r->b, PetscMax(r->b / 3, 2)}, one[3] = {1, 1, 1};

  return (PetscBool)(PetscSqrtReal(0.9) * Noise(p, 9, at, length) + PetscSqrtReal(0.1) * Noise(p, 10, at, one) <
                     p->quantile);
}

/* Is the point in one of the spheres at the four places of a face-centred cube around it, or in those of its
   neighbours? Each is displaced by at most a tenth of the cube */
static PetscBool IsInPacking(const Problem *p, const Region *r, const PetscInt at[])
{
  static const PetscReal face[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
  const PetscReal        cube = p->n[0] / r->a, radius = r->b * 0.3535533905932738;

  for (int m = 0; m < 27 * 4; m++) {
    const PetscInt neighbour[3] = {m / 4 % 3 - 1, m / 12 % 3 - 1, m / 36 - 1};
    PetscInt       i[3];
    PetscReal      away = 0;

    for (PetscInt d = 0; d < 3; d++) i[d] = neighbour[d] + (PetscInt)PetscFloorReal((at[d] + 0.5) / cube);
    for (PetscInt d = 0; d < p->dim && away < radius * radius; d++) {
      const PetscReal x = (at[d] + 0.5) / cube - (PetscReal)i[d] - face[m % 4][d];

      if (PetscAbsReal(x) > radius + 0.1) away = 1;
      else away += PetscSqr(x - 0.2 * (Uniform(p, 18 + 4 * (int)d + m % 4, i[0], i[1], i[2]) - 0.5));
    }
    if (away < radius * radius) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* The columns of n wells */
static PetscBool IsInWell(const Problem *p, const Region *r, const PetscInt at[])
{
  for (PetscInt m = 0; m < (PetscInt)r->a; m++) {
    if (at[0] == (PetscInt)(p->n[0] * Uniform(p, 11, m, 0, 0)) &&
        at[1] == (PetscInt)(p->n[1] * Uniform(p, 11, m, 1, 0)))
      return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool IsInCuboid(const Problem *p, const Region *r, const PetscInt at[])
{
  PetscBool in = PETSC_TRUE;

  for (PetscInt d = 0; d < p->dim; d++) {
    const PetscReal away = PetscAbsReal(at[d] + 0.5 - (r->kind == REGION_BLOCK ? p->n[d] / 2 : p->n[d] / 2.));

    in = (PetscBool)(in && 2 * away < (r->kind == REGION_BLOCK ? r->a : r->a * p->n[d]));
  }
  return in;
}

/* The columns at the corners of the first two directions */
static PetscBool IsAtCorner(const Problem *p, const PetscInt at[])
{
  return (PetscBool)((at[0] == 0 || at[0] == p->n[0] - 1) && (at[1] == 0 || at[1] == p->n[1] - 1));
}

static PetscBool IsAtRim(const Problem *p, const PetscInt at[])
{
  for (PetscInt d = 0; d < p->dim; d++) {
    if (at[d] == 0 || at[d] == p->n[d] - 1) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool IsIn(const Problem *p, const Region *r, const PetscInt at[])
{
  const PetscInt along[3] = {at[1], at[0], at[2]};

  switch (r->kind) {
  case REGION_ALL:
    return PETSC_TRUE;
  case REGION_BLOCK:
  case REGION_SQUARE:
    return IsInCuboid(p, r, at);
  case REGION_BALLS:
    return IsInBall(p, r->a, r->b, at);
  case REGION_SCATTERED:
    return IsInScattered(p, r, at);
  case REGION_MIXED:
    return (PetscBool)(Uniform(p, 1, at[0], at[1], at[2]) < r->a);
  case REGION_CHECKER:
    return (PetscBool)((at[0] / (PetscInt)r->a + at[1] / (PetscInt)r->a + at[2] / (PetscInt)r->a) % 2 == 1);
  case REGION_WALLS:
    return IsInWall(p, r, 1, at);
  case REGION_ROOMS:
    return IsInWall(p, r, p->dim, at);
  case REGION_FIBRES:
    return (PetscBool)(Uniform(p, 12, at[1], at[2], 0) < r->a);
  case REGION_BODIES:
    return IsInBody(p, r, at);
  case REGION_CHANNELS:
    return IsInChannel(p, r, at);
  case REGION_CHANNELS_Y:
    return IsInChannel(p, r, along);
  case REGION_INLET:
    return (PetscBool)(at[0] == 0 && at[1] < r->a * p->n[1]);
  case REGION_WELLS:
    return IsInWell(p, r, at);
  case REGION_RIM:
    return IsAtRim(p, at);
  case REGION_CORNERS:
    return IsAtCorner(p, at);
  case REGION_PACKING:
    return IsInPacking(p, r, at);
  default:
    return PETSC_FALSE;
  }
}

/* Wind */

/* The speed along direction d, at most 1, at a place in the unit cube. Eddies are those of sin cos in 2D; all are free
   of divergence, that of stirring along x and y only, between the points of the lattice of its stream function */
static PetscReal WindAt(const Problem *p, PetscInt d, const PetscReal x[])
{
  const PetscReal pi = 3.141592653589793, degree = pi / 180, a = p->wind.a, last = x[p->dim - 1];
  PetscReal       value = 1;

  switch (p->wind.kind) {
  case WIND_CONSTANT:
    if (d == 2) return PetscSinReal(p->wind.angle[1] * degree);
    value = p->dim == 3 ? PetscCosReal(p->wind.angle[1] * degree) : 1;
    return value * (d ? PetscSinReal(p->wind.angle[0] * degree) : PetscCosReal(p->wind.angle[0] * degree));
  case WIND_PARABOLIC:
    return d ? 0 : 4 * last * (1 - last);
  case WIND_LAYER:
    return d ? 0 : PetscTanhReal(last / a);
  case WIND_RECIRCULATING:
    for (PetscInt e = 0; e < p->dim; e++) value *= e == d ? PetscSinReal(pi * a * x[e]) : PetscCosReal(pi * a * x[e]);
    return p->dim == 3 && d == 0 ? value : d ? -value / (p->dim - 1) : value;
  default:
    return 0;
  }
}

/* The stream function of a stirred wind at a corner of cells: gradients are 1 over the width of eddies or so */
static PetscReal Stream(const Problem *p, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt  at[3]     = {i, j, k};
  const PetscReal length[3] = {p->wind.a, p->wind.a, p->wind.a};

  return Noise(p, 17, at, length) / 3;
}

/* What the wind carries out of a cell through a side of it, over the volume of the cell */
static PetscReal Outflow(const Problem *p, const PetscInt at[], PetscInt d, int side)
{
  const PetscReal speed = p->wind.peclet * p->wide;
  PetscReal       x[3]  = {0, 0, 0}, value;

  if (p->wind.kind == WIND_NONE) return 0;
  for (PetscInt e = 0; e < p->dim; e++) x[e] = (p->place[e][at[e]] + p->place[e][at[e] + 1]) / 2;
  x[d] = p->place[d][at[d] + side];
  if (p->wind.kind == WIND_STIRRED) {
    PetscInt c[3] = {at[0], at[1], at[2]};

    if (d == 2) return 0;
    c[d] += side;
    value = Stream(p, c[0] + d, c[1] + 1 - d, c[2]) - Stream(p, c[0], c[1], c[2]);
    value *= d ? -p->wind.a : p->wind.a;
  } else value = WindAt(p, d, x);
  return (side ? speed : -speed) * value / Width(p, d, at[d]);
}

/* The coupling of a cell with what lies beyond a side of it, if that of diffusion is so large. In the form w grad u, so
   that a constant remains one */
static PetscReal Coupling(const Problem *p, PetscReal diffusion, PetscReal outflow)
{
  const PetscReal inflow = -outflow;

  if (p->wind.convection == CONVECTION_HYBRID) return PetscMax(PetscMax(diffusion + inflow / 2, inflow), 0);
  return diffusion + PetscMax(inflow, 0);
}

/* Coefficients */

/* Between 0 and 1, of the middle of a cell */
static void Middle(const Problem *p, const PetscInt at[], PetscReal x[])
{
  for (PetscInt d = 0; d < 3; d++) x[d] = (p->place[d][at[d]] + p->place[d][at[d] + 1]) / 2;
}

/* As in HPGMG, where it grows from 1 to 10 at a quarter of the width of the grid from the middle */
static PetscReal Bump(const Problem *p, const PetscInt at[])
{
  PetscReal x[3], away = 0;

  Middle(p, at, x);
  for (PetscInt d = 0; d < p->dim; d++) away += PetscSqr(x[d] - 0.5);
  return (p->bump + 1) / 2 + (p->bump - 1) / 2 * PetscTanhReal(10 * (PetscSqrtReal(away) - 0.25));
}

/* The brightness of a picture */
static PetscReal Brightness(const Problem *p, const PetscInt at[])
{
  return (IsIn(p, &p->region, at) ? 1 : 0) + p->noise * Normal(p, 30, at[0], at[1], at[2]);
}

static PetscReal Affinity(const Problem *p, const PetscInt at[], const PetscInt to[])
{
  if (p->affinity == 0) return 1;
  return PetscExpReal(-p->affinity * PetscSqr(Brightness(p, at) - Brightness(p, to)));
}

/* Diffusion in each direction */
static void Diffusion(const Problem *p, const PetscInt at[], PetscReal k[])
{
  const PetscInt last = at[p->dim - 1];
  PetscReal      c = 1, turn = 0;

  if (p->affinity == 0 && IsIn(p, &p->region, at)) c *= p->contrast;
  if (p->bump != 1) c *= Bump(p, at);
  if (p->layer_width > 0) c *= PetscPowReal(p->layer_contrast, Uniform(p, 13, (PetscInt)(last / p->layer_width), 0, 0));
  if (p->random != 1) c *= PetscPowReal(p->random, Uniform(p, 14, at[0], at[1], at[2]));
  if (p->sd > 0) c *= PetscExpReal(p->sd * Noise(p, 15, at, p->length));
  if (IsIn(p, &p->inactive, at)) c = 0;
  for (PetscInt d = 0; d < p->dim && p->turn != TURN_NONE; d++) {
    const PetscReal wave = PetscSinReal(6.283185307179586 * at[d] / p->n[d] * (p->turn == TURN_BLOCKS ? 2 : 1) + d);

    turn += p->turn == TURN_BLOCKS ? (wave > 0) : wave / p->dim;
  }
  if (p->turn == TURN_BLOCKS) turn = (PetscInt)turn % 2 ? 1 : -1;
  for (PetscInt d = 0; d < 3; d++) k[d] = c * p->k[d] * PetscPowReal(p->turn_by, d ? -turn / 2 : turn / 2);
}

static inline PetscReal *GridDiffusion(const Grid *g, const PetscInt at[])
{
  return &g->k[3 *
               ((at[0] - g->start[0]) + g->width[0] * ((at[1] - g->start[1]) + g->width[1] * (at[2] - g->start[2])))];
}

static PetscErrorCode GridCreate(const Problem *p, DM da, Grid *g)
{
  PetscInt at[3], to[3];

  PetscFunctionBeginUser;
  g->p = p;
  PetscCall(DMDAGetCorners(da, &g->start[0], &g->start[1], &g->start[2], &g->width[0], &g->width[1], &g->width[2]));
  for (PetscInt d = 0; d < p->dim; d++) {
    g->start[d]--;
    g->width[d] += 2;
  }
  PetscCall(PetscMalloc1(3 * g->width[0] * g->width[1] * g->width[2], &g->k));
  FOR_BOX(at, g->start, g->width) {
    for (PetscInt d = 0; d < 3; d++)
      to[d] = p->end[d][0] == 'p' ? (at[d] + p->n[d]) % p->n[d] : PetscMax(0, PetscMin(at[d], p->n[d] - 1));
    Diffusion(p, to, GridDiffusion(g, at));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows */

static PetscBool IsStored(const Problem *p, const PetscInt at[])
{
  for (PetscInt d = 0; d < p->dim; d++) {
    if ((at[d] <= 0 && p->end[d][0] == 's') || (at[d] >= p->n[d] - 1 && p->end[d][1] == 's')) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool IsOutside(const Problem *p, PetscInt d, PetscInt i)
{
  return (PetscBool)(p->end[d][0] != 'p' && (i < 0 || i >= p->n[d]));
}

/* What flows through the end of the grid next to a point. volume: 0 where no wind is to flow */
static PetscReal EndCoupling(const Grid *g, const PetscInt at[], PetscInt d, int side, PetscReal coupling,
                             PetscReal volume)
{
  const Problem  *p       = g->p;
  const PetscReal outflow = volume * Outflow(p, at, d, side);
  const char      end     = p->end[d][side];
  PetscBool       open    = PETSC_TRUE;
  const PetscInt  other   = d == 0 ? 1 : 0;

  if (end == 'n') return 0;
  if (end == 'v' || end == 's') return Coupling(p, coupling, outflow);
  if (end == 'i') open = (PetscBool)(p->dim == 1 || at[other] < p->n[other] / 2);
  for (PetscInt e = 0; end == 'o' && e < p->dim; e++)
    open = (PetscBool)(open && (e == d || PetscAbsReal(at[e] + 0.5 - 0.6 * p->n[e]) < 0.1 * p->n[e]));
  return open ? Coupling(p, 2 * coupling, outflow) : 0;
}

static void RowOfCell(const Grid *g, const PetscInt at[], PetscReal volume, StencilRow *row)
{
  const Problem   *p  = g->p;
  const PetscReal *me = GridDiffusion(g, at);

  for (PetscInt o = 0; o < 2 * p->dim; o++) {
    const PetscInt  d = o / 2;
    PetscInt        to[3];
    const PetscReal h = Width(p, d, at[d]);
    PetscReal       other, c = 0;

    StarNeighbour(at, o, to);
    if (IsOutside(p, d, to[d])) {
      row->value[0] += EndCoupling(g, at, d, (int)(o % 2), me[d] * volume / (h * h), volume);
      continue;
    }
    other = GridDiffusion(g, to)[d];
    if (other > 0) {
      c = volume / h / (h / (2 * me[d]) + Width(p, d, to[d]) / (2 * other)) * Affinity(p, at, to);
      c = Coupling(p, c, volume * Outflow(p, at, d, (int)(o % 2)));
    }
    row->value[0] += c;
    if (IsStored(p, to) || IsStored(p, at) || c == 0) continue;
    RowEntry(row, to, -c);
  }
}

/* What an element, at the place "of", gives to the coupling of a point with itself or a neighbour */
static PetscReal ElementCoupling(const Grid *g, const PetscInt of[], const PetscInt offset[])
{
  const Problem   *p   = g->p;
  const PetscReal *k   = GridDiffusion(g, of);
  PetscReal        sum = 0;

  for (PetscInt d = 0; d < p->dim; d++) {
    PetscReal part = k[d];

    for (PetscInt e = 0; e < p->dim; e++) {
      const PetscReal h = Width(p, e, of[e]);

      part *= e == d ? (offset[e] ? -1 / h : 1 / h) : (offset[e] ? h / 6 : h / 3);
    }
    sum += part;
  }
  return sum;
}

/* Element i lies between the points i and i + 1; there are some beyond the ends of Dirichlet points that are left
   out */
static PetscBool HasElement(const Problem *p, PetscInt d, PetscInt i)
{
  if (p->end[d][0] == 'p') return PETSC_TRUE;
  return (PetscBool)((i >= 0 || p->end[d][0] == 'v') && (i < p->n[d] - 1 || p->end[d][1] == 'v'));
}

static void RowOfElements(const Grid *g, const PetscInt at[], StencilRow *row)
{
  const Problem *p = g->p;

  for (int o = 0; o < 27; o++) {
    const PetscInt offset[3] = {o % 3 - 1, o / 3 % 3 - 1, o / 9 - 1},
                   to[3]     = {at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]};
    PetscBool has            = PETSC_TRUE;
    PetscReal sum            = 0;

    for (PetscInt d = 0; d < 3; d++) has = (PetscBool)(has && (d < p->dim ? !IsOutside(p, d, to[d]) : offset[d] == 0));
    if (!has) continue;
    for (int e = 0; e < 1 << p->dim; e++) {
      PetscInt of[3] = {at[0] - 1 + (e & 1), at[1] - 1 + ((e >> 1) & 1), p->dim == 3 ? at[2] - 1 + (e >> 2) : 0};

      for (PetscInt d = 0; d < p->dim; d++)
        has = (PetscBool)(has && HasElement(p, d, of[d]) && (to[d] == of[d] || to[d] == of[d] + 1));
      if (has) sum += ElementCoupling(g, of, offset);
      has = PETSC_TRUE;
    }
    if (o == 13) row->value[0] += sum;
    else if (sum != 0 && !IsStored(p, at) && !IsStored(p, to)) RowEntry(row, to, sum);
  }
}

static void MakeRow(const Grid *g, const PetscInt at[], StencilRow *row)
{
  const Problem  *p      = g->p;
  const PetscReal volume = Width(p, 0, at[0]) * Width(p, 1, at[1]) * Width(p, 2, at[2]);

  row->n = 0;
  RowEntry(row, at, 0);
  if (p->scheme == SCHEME_ELEMENTS) RowOfElements(g, at, row);
  else if (GridDiffusion(g, at)[0] > 0) RowOfCell(g, at, volume, row);
  else {
    row->value[0] = 1;
    return;
  }
  if (IsStored(p, at)) return;
  if (p->reaction > 0 && IsIn(p, &p->reactive, at)) row->value[0] += p->reaction * volume;
  if (p->penalty > 0 && IsIn(p, &p->held, at)) row->value[0] += p->penalty;
}

/* The source of the pressure of Taylor-Green vortices, a period of which is as wide as the grid: the sum of
   du_i/dx_j du_j/dx_i, u = (sin x cos y cos z, -cos x sin y cos z, 0) */
static PetscReal TaylorGreen(const PetscReal x[])
{
  PetscReal c[3], s[3];

  for (int d = 0; d < 3; d++) {
    c[d] = PetscSqr(PetscCosReal(6.283185307179586 * x[d]));
    s[d] = 1 - c[d];
  }
  return 2 * c[2] * (c[0] * c[1] - s[0] * s[1]);
}

/* HPGMG's solution */
static PetscReal Sines(const Problem *p, const PetscReal x[])
{
  PetscReal once = 1, thrice = 1;

  for (PetscInt d = 0; d < p->dim; d++) {
    once *= PetscPowRealInt(PetscSinReal(6.283185307179586 * x[d]), 13);
    thrice *= PetscPowRealInt(PetscSinReal(3 * 6.283185307179586 * x[d]), 13);
  }
  return once + thrice;
}

/* How much more of the points above are in the region than of those below, at the ends none */
static PetscReal Rise(const Problem *p, const PetscInt at[])
{
  const PetscInt last = p->dim - 1;
  PetscReal      in[2];

  for (int side = 0; side < 2; side++) {
    PetscInt to[3] = {at[0], at[1], at[2]};

    to[last] += side ? 1 : -1;
    in[side] = to[last] >= 0 && to[last] < p->n[last] && IsIn(p, &p->region, to) ? 0.5 : 0;
  }
  return (in[0] - in[1]) / Width(p, last, at[last]);
}

/* What acts on a point, for a volume of one */
static PetscReal Density(const Grid *g, const PetscInt at[])
{
  const Problem  *p = g->p;
  const PetscReal h = Width(p, 0, 0);
  PetscReal       x[3];

  Middle(p, at, x);
  switch (p->source) {
  case SOURCE_SINES:
    return Sines(p, x);
  case SOURCE_TAYLOR_GREEN:
    return TaylorGreen(x);
  case SOURCE_RISE:
    return Rise(p, at);
  case SOURCE_INLET:
    return at[0] == 0 ? 2 * GridDiffusion(g, at)[0] / (h * h) : 0;
  case SOURCE_INJECTOR:
    return at[0] == p->n[0] / 2 && at[1] == p->n[1] / 2 ? 1 : 0;
  case SOURCE_LABELS:
    return 0;
  default:
    return Uniform(p, 16, at[0], at[1], at[2]);
  }
}

/* What acts on a point, in proportion to its volume; where its value is held nothing, or what holds it */
static PetscReal Source(const Grid *g, const PetscInt at[])
{
  const Problem *p = g->p;

  if (IsStored(p, at) || GridDiffusion(g, at)[0] == 0) return 0;
  if (p->penalty > 0 && IsIn(p, &p->held, at))
    return p->source == SOURCE_LABELS && IsIn(p, &p->region, at) ? p->penalty : 0;
  return Width(p, 0, at[0]) * Width(p, 1, at[1]) * Width(p, 2, at[2]) * Density(g, at);
}

/* Right side and active points: NULL on a coarser grid */
static PetscErrorCode Fill(const Grid *g, Mat A, Vec b, Vec active)
{
  const PetscInt *start = g->start, *width = g->width;
  PetscInt        at[3], s[3], n[3]; /* the points of this process */
  PetscScalar    *source, *in;
  StencilRow      row;

  PetscFunctionBeginUser;
  if (b) PetscCall(VecGetArray(b, &source));
  if (active) PetscCall(VecGetArray(active, &in));
  for (PetscInt d = 0; d < 3; d++) {
    s[d] = start[d] + (d < g->p->dim);
    n[d] = width[d] - 2 * (d < g->p->dim);
  }
  FOR_BOX(at, s, n) {
    MakeRow(g, at, &row);
    PetscCall(MatSetValuesStencil(A, 1, row.col, row.n, row.col, row.value, INSERT_VALUES));
    if (b) *source++ = Source(g, at);
    if (active) *in++ = GridDiffusion(g, at)[0] > 0;
  }
  if (b) PetscCall(VecRestoreArray(b, NULL));
  if (active) PetscCall(VecRestoreArray(active, NULL));
  PetscCall(AssembleMat(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A problem without any value that is held: the right side becomes one that it has a solution for */
static PetscErrorCode AttachNullSpace(const Problem *p, Mat A, Vec b, Vec active)
{
  PetscBool    singular = (PetscBool)(p->reaction == 0 && p->penalty == 0);
  MatNullSpace constant;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < p->dim; d++) {
    for (int side = 0; side < 2; side++)
      singular = (PetscBool)(singular && (p->end[d][side] == 'n' || p->end[d][side] == 'p'));
  }
  if (!singular) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNormalize(active, NULL));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, 1, &active, &constant));
  PetscCall(MatSetNullSpace(A, constant));
  PetscCall(MatNullSpaceRemove(constant, b));
  PetscCall(MatNullSpaceDestroy(&constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the same order, as many on each process */
static PetscErrorCode ShareRows(Mat *A, Vec *b)
{
  PetscInt   local = PETSC_DECIDE, size, end;
  IS         is;
  Mat        shared;
  Vec        own;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(*b, &size));
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &size));
  PetscCallMPI(MPI_Scan(&local, &end, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, local, end - local, 1, &is));
  PetscCall(MatCreateSubMatrix(*A, is, is, MAT_INITIAL_MATRIX, &shared));
  PetscCall(MatCreateVecs(shared, &own, NULL));
  PetscCall(VecScatterCreate(*b, is, own, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, *b, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, *b, own, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(DestroyAll(&scatter, &is, A, b));
  *A = shared;
  *b = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Forget(Mat *A, Vec *b)
{
  char      what[8];
  PetscBool given, dm, rows;
  Vec       plain;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-forget", what, sizeof(what), &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStrcmp(what, "dm", &dm));
  PetscCall(PetscStrcmp(what, "rows", &rows));
  PetscCheck(dm || rows, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-forget %s: dm or rows", what);
  PetscCall(MatSetDM(*A, NULL));
  PetscCall(MatCreateVecs(*A, &plain, NULL));
  PetscCall(VecCopy(*b, plain));
  PetscCall(VecDestroy(b));
  *b = plain;
  if (rows) PetscCall(ShareRows(A, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemCreate(const Problem *p, Mat *A, Vec *b)
{
  const DMDAStencilType shape = p->scheme == SCHEME_ELEMENTS ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR;
  DMBoundaryType        t[3];
  Grid                  g;
  Vec                   active;
  PetscBool             image;
  DM                    da;

  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) t[d] = p->end[d][0] == 'p' ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE;
  if (p->dim == 1) PetscCall(DMDACreate1d(PETSC_COMM_WORLD, t[0], p->n[0], 1, 1, NULL, &da));
  else if (p->dim == 2)
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, t[0], t[1], shape, p->n[0], p->n[1], PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                           NULL, NULL, &da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_WORLD, t[0], t[1], t[2], shape, p->n[0], p->n[1], p->n[2], PETSC_DECIDE,
                           PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, A));
  PetscCall(DMCreateGlobalVector(da, b));
  PetscCall(VecDuplicate(*b, &active));
  PetscCall(GridCreate(p, da, &g));
  PetscCall(Fill(&g, *A, *b, active));
  PetscCall(AttachNullSpace(p, *A, *b, active));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-image", &image));
  if (image) {
    PetscCall(VecCopy(*b, active));
    PetscCall(MatMult(*A, active, *b));
  }
  PetscCall(Forget(A, b));
  PetscCall(PetscFree(g.k));
  PetscCall(DestroyAll(&active, &da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options */

static PetscErrorCode GetTriple(const char name[], PetscInt dim, PetscReal values[])
{
  PetscInt  n = 3;
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, name, values, &n, &given));
  PetscCheck(!given || n == dim, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "%s wants %" PetscInt_FMT " numbers, not %" PetscInt_FMT, name, dim, n);
  for (PetscInt d = 0; d < dim; d++)
    PetscCheck(values[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%s must be positive", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name:a:b */
static PetscErrorCode GetRegion(const char option[], const Problem *p, Region *region)
{
  char      text[128];
  double    a = 0, b    = 0;
  PetscBool given, same = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, option, text, sizeof(text), &given));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  if (strchr(text, ':')) {
    sscanf(strchr(text, ':'), ":%lf:%lf", &a, &b);
    *strchr(text, ':') = 0;
  }
  for (int kind = REGION_NONE; kind <= REGION_CHANNELS_Y && !same; kind++) {
    region->kind = (RegionKind)kind;
    PetscCall(PetscStrcmp(text, RegionKinds[kind], &same));
  }
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "%s: no region is called %s, see -help", option, text);
  region->a = (PetscReal)a;
  region->b = (PetscReal)b;
  PetscCheck(a > 0 || region->kind <= REGION_ALL || region->kind == REGION_RIM || region->kind == REGION_CORNERS,
             PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%s %s needs a positive number: %s:number", option, text,
             text);
  PetscCheck(region->kind != REGION_PACKING || b > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "%s packing:number:size needs two positive numbers", option);
  PetscCheck(p->dim > 1 || (region->kind != REGION_CHANNELS && region->kind != REGION_CHANNELS_Y &&
                            region->kind != REGION_FIBRES),
             PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "%s %s wants 2 or 3 dimensions", option, text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetEnds(Problem *p)
{
  char     *words[3];
  PetscInt  n = 3;
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-ends", words, &n, &given));
  PetscCheck(!given || n == p->dim, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-ends wants %" PetscInt_FMT " words of two letters, not %" PetscInt_FMT, p->dim, n);
  for (PetscInt d = 0; given && d < n; d++) {
    const char *known = p->scheme == SCHEME_ELEMENTS ? "vsnp" : "dvsnpio";

    PetscCheck(words[d][0] && words[d][1] && !words[d][2] && strchr(known, words[d][0]) && strchr(known, words[d][1]),
               PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-ends %s: two letters of %s", words[d], known);
    for (int side = 0; side < 2; side++) p->end[d][side] = words[d][side];
    PetscCheck((p->end[d][0] == 'p') == (p->end[d][1] == 'p'), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
               "-ends %s: both ends are periodic, or none", words[d]);
    PetscCall(PetscFree(words[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cell beyond an end is as wide as that at the end, or, where the grid is periodic, at the other end */
static PetscErrorCode MakeWidths(Problem *p)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) {
    PetscCall(PetscMalloc1(p->n[d] + 2, &p->width[d]));
    for (PetscInt i = -1; i <= p->n[d]; i++) {
      const PetscInt last  = p->n[d] - 1,
                     at    = p->end[d][0] == 'p' ? (i + p->n[d]) % p->n[d] : PetscMax(0, PetscMin(i, last));
      const PetscReal away = p->fine == FINE_LOW     ? at
                             : p->fine == FINE_WALLS ? PetscMin(at, last - at)
                                                     : PetscAbsReal(at - last / 2.);

      p->width[d][i + 1] = p->h[d] * PetscMin(PetscPowReal(p->stretch[d], away), 1000);
    }
  }
  for (PetscInt d = 0; d < 3; d++) {
    PetscReal sum = 0;

    PetscCall(PetscCalloc1(p->n[d] + 1, &p->place[d]));
    for (PetscInt i = 0; i < p->n[d]; i++) p->place[d][i + 1] = p->place[d][i] + Width(p, d, i);
    sum = p->place[d][p->n[d]];
    for (PetscInt i = 0; i <= p->n[d]; i++) p->place[d][i] /= sum;
    if (d == 0) p->wide = p->n[d] / sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeWidths(Problem *p)
{
  PetscFunctionBeginUser;
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(p->width[d]));
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(p->place[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetGrid(Problem *p)
{
  PetscBool given;

  PetscFunctionBeginUser;
  p->dim = 3;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", p->n, &p->dim, &given));
  if (!given) {
    p->dim  = 3;
    p->n[0] = p->n[1] = p->n[2] = 64;
  }
  for (PetscInt d = 0; d < 3; d++) {
    if (d >= p->dim) p->n[d] = 1;
    p->end[d][0] = p->end[d][1] = d >= p->dim ? 'n' : p->scheme == SCHEME_ELEMENTS ? 'v' : 'd';
    p->h[d] = p->stretch[d] = p->k[d] = 1;
    PetscCheck(p->n[d] > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-cells must be positive");
  }
  PetscCall(GetEnds(p));
  PetscCall(GetTriple("-h", p->dim, p->h));
  PetscCall(GetTriple("-stretch", p->dim, p->stretch));
  PetscCall(GetTriple("-k", p->dim, p->k));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-fine", Fines, (PetscEnum *)&p->fine, NULL));
  PetscCall(MakeWidths(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetCoefficients(Problem *p)
{
  char   text[128] = "";
  double width, contrast;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-layers", text, sizeof(text), NULL));
  if (sscanf(text, "%lf:%lf", &width, &contrast) == 2) {
    p->layer_width    = (PetscReal)width;
    p->layer_contrast = (PetscReal)contrast;
  }
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-turn", Turns, (PetscEnum *)&p->turn, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-turn_by", &p->turn_by, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &p->contrast, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-random", &p->random, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-sd", &p->sd, NULL));
  PetscCall(GetTriple("-length", p->dim, p->length));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-reaction", &p->reaction, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-penalty", &p->penalty, NULL));
  PetscCall(GetRegion("-region", p, &p->region));
  PetscCall(GetRegion("-inactive", p, &p->inactive));
  PetscCall(GetRegion("-reactive", p, &p->reactive));
  PetscCall(GetRegion("-held", p, &p->held));
  PetscCheck(p->scheme == SCHEME_CELLS || p->inactive.kind == REGION_NONE, PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-inactive is for -scheme cells");
  p->quantile = Quantile(p->inactive.kind == REGION_BODIES ? p->inactive.a : p->region.a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetSource(Problem *p)
{
  char   text[128] = "";
  double affinity = 0, noise = 0;
  int    n;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-source", SourceKinds, (PetscEnum *)&p->source, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-bump", &p->bump, NULL));
  PetscCheck(p->bump > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-bump must be positive");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-affinity", text, sizeof(text), NULL));
  n = sscanf(text, "%lf:%lf", &affinity, &noise);
  PetscCheck(!text[0] || (n > 0 && affinity > 0 && noise >= 0), PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-affinity %s: a positive number, and the deviation of noise after a colon", text);
  PetscCheck(!text[0] || p->scheme == SCHEME_CELLS, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-affinity is for -scheme cells");
  p->affinity = (PetscReal)affinity;
  p->noise    = (PetscReal)noise;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetWind(Problem *p)
{
  char      text[128] = "none";
  double    a         = 1;
  PetscInt  n         = 2;
  PetscBool same      = PETSC_FALSE;

  PetscFunctionBeginUser;
  p->wind.peclet = 1;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-wind", text, sizeof(text), NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-peclet", &p->wind.peclet, NULL));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-angle", p->wind.angle, &n, NULL));
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-convection", Convections, (PetscEnum *)&p->wind.convection, NULL));
  if (strchr(text, ':')) {
    sscanf(strchr(text, ':'), ":%lf", &a);
    *strchr(text, ':') = 0;
  }
  p->wind.a = (PetscReal)a;
  for (int kind = WIND_NONE; kind <= WIND_STIRRED && !same; kind++) {
    p->wind.kind = (WindKind)kind;
    PetscCall(PetscStrcmp(text, WindKinds[kind], &same));
  }
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-wind: none is called %s, see -help", text);
  PetscCheck(a > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-wind %s needs a positive number", text);
  PetscCheck(p->wind.kind == WIND_NONE || (p->scheme == SCHEME_CELLS && p->dim > 1), PETSC_COMM_WORLD, PETSC_ERR_SUP,
             "-wind is for -scheme cells in 2 or 3 dimensions");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ProblemSetFromOptions(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(p, sizeof(*p)));
  p->seed      = 1;
  p->contrast  = 1000;
  p->random    = 1;
  p->bump      = 1;
  p->turn_by   = 100;
  p->length[0] = p->length[1] = 10;
  p->length[2]                = 2;
  p->reactive.kind            = REGION_ALL;
  p->held.kind                = REGION_RIM;
  PetscCall(PetscOptionsGetEnum(NULL, NULL, "-scheme", Schemes, (PetscEnum *)&p->scheme, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &p->seed, NULL));
  PetscCall(GetGrid(p));
  PetscCall(GetCoefficients(p));
  PetscCall(GetSource(p));
  PetscCall(GetWind(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measuring */

static PetscErrorCode Now(PetscBool device, PetscReal *seconds)
{
  struct timespec    t;
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  if (device) {
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextSynchronize(context));
  }
  clock_gettime(device ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
  *seconds = (PetscReal)t.tv_sec + (PetscReal)t.tv_nsec * 1e-9;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the slowest process in each run; of the runs the fastest */
static PetscErrorCode Least(PetscInt n, PetscReal values[], PetscReal *least)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, values, (PetscMPIInt)n, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  *least = values[0];
  for (PetscInt i = 1; i < n; i++) *least = PetscMin(*least, values[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A problem, and what solves it */
typedef struct {
  Problem   p;
  Mat       A;
  Vec       b;
  KSP       ksp;
  PetscInt  repeat, renew;
  PetscReal patience;
  PetscBool device, keep, bits, listed;
} Run;

/* For DMKSPSetComputeOperators(): the problem on a coarser grid whose points are points of the finest one */
static PetscErrorCode ComputeOperator(KSP ksp, Mat J, Mat A, void *problem)
{
  Problem p = *(const Problem *)problem;
  Grid    g;
  DM      da;

  PetscFunctionBeginUser;
  (void)J;
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetInfo(da, NULL, &p.n[0], &p.n[1], &p.n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt d = 0; d < p.dim; d++) {
    const PetscReal ratio = (PetscReal)(((const Problem *)problem)->n[d] - 1) / (PetscReal)(p.n[d] - 1);

    p.h[d] *= ratio;
    p.length[d] /= ratio;
  }
  PetscCall(MakeWidths(&p));
  PetscCall(GridCreate(&p, da, &g));
  PetscCall(Fill(&g, A, NULL, NULL));
  PetscCall(PetscFree(g.k));
  PetscCall(FreeWidths(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grids for PCMG, which does not choose how many: while all directions can be halved */
static PetscErrorCode UseGrids(Run *run, DM dm, KSP ksp)
{
  const Problem *p      = &run->p;
  PetscInt       levels = 1;
  PetscBool      halves = PETSC_TRUE, given;
  char           text[8];

  PetscFunctionBeginUser;
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KCycleKSPSetDMInactive(ksp));
  PetscCall(DMKSPSetComputeOperators(dm, ComputeOperator, &run->p));
  for (PetscInt step = 2; halves; step *= 2, levels++) {
    for (PetscInt d = 0; d < p->dim; d++) {
      PetscCheck(p->end[d][0] == 's' && p->end[d][1] == 's' && p->stretch[d] == 1, PETSC_COMM_WORLD, PETSC_ERR_SUP,
                 "-with_dm is for even grids and -ends ss");
      halves = (PetscBool)(halves && (p->n[d] - 1) % step == 0 && (p->n[d] - 1) / step >= 4);
    }
    if (!halves) break;
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-pc_mg_levels", &given));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT, levels));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-pc_mg_levels", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conjugate gradients, or with a wind GMRES and what else takes operators that are not symmetric */
static PetscErrorCode CreateSolver(Run *run, KSP *ksp)
{
  const PetscBool wind = (PetscBool)(run->p.wind.kind != WIND_NONE);
  PetscBool       grids;
  PC              pc;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, run->A, run->A));
  PetscCall(MatGetDM(run->A, &dm));
  if (run->device && dm) { /* PCMG coarsens with it */
    PetscCall(KSPSetDM(*ksp, dm));
    PetscCall(KCycleKSPSetDMInactive(*ksp));
  }
  PetscCall(PetscOptionsHasName(NULL, NULL, "-with_dm", &grids));
  if (grids && dm) PetscCall(UseGrids(run, dm, *ksp));
  PetscCall(KSPSetType(*ksp, wind ? KSPGMRES : KSPCG));
  if (wind) PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, 1e-300, 1e10, 500));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, "kcycle"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new solver, unless the one that is there is kept */
static PetscErrorCode SetUp(Run *run, PetscReal *seconds)
{
  PetscReal start, end;

  PetscFunctionBeginUser;
  if (!run->keep) PetscCall(KSPDestroy(&run->ksp));
  if (!run->ksp) PetscCall(CreateSolver(run, &run->ksp));
  PetscCall(KSPSetFromOptions(run->ksp));
  PetscCall(Now(run->device, &start));
  PetscCall(KSPSetUp(run->ksp));
  PetscCall(Now(run->device, &end));
  *seconds = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveOnce(const Run *run, Vec x, PetscReal *seconds)
{
  PetscReal start, end;

  PetscFunctionBeginUser;
  PetscCall(Now(run->device, &start));
  PetscCall(KSPSolve(run->ksp, run->b, x));
  PetscCall(Now(run->device, &end));
  *seconds = end - start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define COUNTS 9

/* What the stand-in of tests/cudahost has been asked for so far, by all processes, if it is there */
static PetscErrorCode Count(long n[COUNTS], PetscBool *there)
{
  void (*count)(long *);

  PetscFunctionBeginUser;
  *(void **)&count = dlsym(RTLD_DEFAULT, "HostCounts");
  *there           = (PetscBool)(count != NULL);
  for (int i = 0; i < COUNTS; i++) n[i] = 0;
  if (count) (*count)(n);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, n, COUNTS, MPI_LONG, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the words of its report */
static PetscErrorCode PrintCounts(const long before[COUNTS])
{
  long      n[COUNTS];
  PetscBool there;

  PetscFunctionBeginUser;
  PetscCall(Count(n, &there));
  if (!there) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < COUNTS; i++) n[i] -= before[i];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "cudahost: %ld copies to the device, %ld bytes; %ld to the host, %ld bytes; %ld sparse "
                        "products, %ld dense; %ld launches; %ld graphs with %ld kernels\n",
                        n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number that another bit of the solution changes; of one process */
static PetscErrorCode PrintBits(Vec x)
{
  const PetscScalar *a;
  PetscInt           n;
  uint64_t           sum = UINT64_C(14695981039346656037);

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  for (size_t i = 0; i < (size_t)n * sizeof(*a); i++)
    sum = (sum ^ ((const unsigned char *)a)[i]) * UINT64_C(1099511628211);
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "bits %llx\n", (unsigned long long)sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the points of a plane: what is solved for, and the diffusion in x or the brightness, line by line */
static PetscErrorCode WritePlane(const Problem *p, PetscInt across, const PetscScalar x[], const char name[])
{
  PetscInt at[3], first[3], number[3];
  FILE    *file = fopen(name, "w");

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", name);
  for (PetscInt d = 0; d < 3; d++) {
    first[d]  = d == across ? p->n[d] / 4 : 0;
    number[d] = d == across ? 1 : p->n[d];
  }
  FOR_BOX(at, first, number) {
    PetscReal k[3], middle[3];

    Diffusion(p, at, k);
    Middle(p, at, middle);
    fprintf(file, "%g %g %g %g %g\n", (double)middle[0], (double)middle[1], (double)middle[2],
            (double)(p->affinity > 0 ? Brightness(p, at) : k[0]),
            (double)PetscRealPart(x[at[0] + p->n[0] * (at[1] + p->n[1] * at[2])]));
  }
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If it is asked for. The first process writes it */
static PetscErrorCode WritePicture(const Run *run, Vec x)
{
  char               name[PETSC_MAX_PATH_LEN], across[8] = "z";
  const PetscScalar *a;
  PetscMPIInt        rank;
  PetscBool          given;
  VecScatter         scatter;
  Vec                natural, all;
  DM                 dm;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-picture", name, sizeof(name), &given));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-across", across, sizeof(across), NULL));
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(across[0] >= 'x' && across[0] <= 'z' && !across[1], PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG,
             "-across %s: x, y or z", across);
  PetscCall(MatGetDM(run->A, &dm));
  PetscCall(DMDACreateNaturalVector(dm, &natural));
  PetscCall(DMDAGlobalToNaturalBegin(dm, x, INSERT_VALUES, natural));
  PetscCall(DMDAGlobalToNaturalEnd(dm, x, INSERT_VALUES, natural));
  PetscCall(VecScatterCreateToZero(natural, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCall(WritePlane(&run->p, across[0] - 'x', a, name));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(DestroyAll(&scatter, &all, &natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Larger diagonals, and another solve */
static PetscErrorCode Renew(const Run *run, Vec x)
{
  PetscReal most;
  Vec       diagonal;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &diagonal));
  PetscCall(MatGetDiagonal(run->A, diagonal));
  PetscCall(VecNorm(diagonal, NORM_INFINITY, &most));
  PetscCall(VecDestroy(&diagonal));
  PetscCall(MatShift(run->A, most / 10));
  PetscCall(KSPSolve(run->ksp, run->b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintResult(const Run *run, Vec x, PetscReal setup, PetscReal solve)
{
  PetscReal          residual, norm;
  PetscInt           its, size;
  KSPConvergedReason reason;
  Vec                r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &r));
  PetscCall(KSPGetIterationNumber(run->ksp, &its));
  PetscCall(KSPGetConvergedReason(run->ksp, &reason));
  PetscCall(MatMult(run->A, x, r));
  PetscCall(VecAYPX(r, -1, run->b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(run->b, NORM_2, &norm));
  PetscCall(VecGetSize(run->b, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "result,%" PetscInt_FMT ",%" PetscInt_FMT ",%s,%.6f,%.6f,%.1e\n", size, its,
                        KSPConvergedReasons[reason], (double)setup, (double)solve, (double)(residual / norm)));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device the solver is set up once, and solves once more than is counted */
static PetscErrorCode Measure(Run *run)
{
  PetscReal setup[MAX_REPEAT], solve[MAX_REPEAT], spent = 0, slowest;
  PetscInt  n = 0;
  long      before[COUNTS];
  PetscBool there;
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(Count(before, &there));
  PetscCall(VecDuplicate(run->b, &x));
  do {
    if (n && run->device) setup[n] = setup[n - 1];
    else PetscCall(SetUp(run, &setup[n]));
    if (!n && run->device) PetscCall(SolveOnce(run, x, &solve[n]));
    PetscCall(SolveOnce(run, x, &solve[n]));
    spent += (n && run->device ? 0 : setup[n]) + solve[n];
    n++;
    PetscCallMPI(MPI_Allreduce(&spent, &slowest, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  } while (n < PetscMin(run->repeat, MAX_REPEAT) && slowest < run->patience);
  PetscCall(Least(n, setup, &setup[0]));
  PetscCall(Least(n, solve, &solve[0]));
  PetscCall(WritePicture(run, x));
  for (PetscInt i = 0; i < run->renew; i++) PetscCall(Renew(run, x));
  if (run->listed) PetscCall(PrintCounts(before));
  if (run->bits) PetscCall(PrintBits(x));
  PetscCall(PrintResult(run, x, setup[0], solve[0]));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunDestroy(Run *run)
{
  PetscFunctionBeginUser;
  PetscCall(DestroyAll(&run->ksp, &run->A, &run->b));
  PetscCall(FreeWidths(&run->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With the options of the moment; unless there is a problem, another one is made */
static PetscErrorCode RunOnce(Run *run)
{
  PetscFunctionBeginUser;
  run->repeat   = 9;
  run->patience = 1;
  run->renew    = 0;
  run->device = run->keep = run->bits = PETSC_FALSE;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &run->repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-patience", &run->patience, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &run->device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-keep", &run->keep, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bits", &run->bits, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-renew", &run->renew, NULL));
  if (!run->A) {
    PetscCall(ProblemSetFromOptions(&run->p));
    PetscCall(ProblemCreate(&run->p, &run->A, &run->b));
  }
  PetscCall(Measure(run));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line of a list, and in its place the options of the problem before */
static PetscErrorCode RunLine(Run *run, char line[], char before[], int argc, char **args)
{
  char        *problem = strchr(line, '|'), *solver = problem ? strchr(problem + 1, '|') : NULL;
  PetscOptions options;

  PetscFunctionBeginUser;
  PetscCheck(solver, PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "Not name|problem|solver: %s", line);
  *problem++ = *solver++        = 0;
  solver[strcspn(solver, "\n")] = 0;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "begin %s\n", line));
  fflush(stdout);
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsPush(options));
  PetscCall(PetscOptionsInsertArgs(options, argc - 1, (void *)(args + 1))); /* const in newer releases of PETSc */
  PetscCall(PetscOptionsInsertString(options, problem));
  PetscCall(PetscOptionsInsertString(options, solver));
  if (strcmp(problem, before)) PetscCall(RunDestroy(run));
  PetscCall(RunOnce(run));
  if (!run->keep) PetscCall(KSPDestroy(&run->ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&options));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "end %s\n", line));
  fflush(stdout);
  if (run->renew) before[0] = 0; /* it is another problem now */
  else memmove(before, problem, strlen(problem) + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RunList(Run *run, const char name[], int argc, char **args)
{
  char     line[2048], before[2048] = "";
  PetscInt from = 0;
  FILE    *file = fopen(name, "r");

  PetscFunctionBeginUser;
  PetscCheck(file, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "Cannot read %s", name);
  run->listed = PETSC_TRUE;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-from", &from, NULL));
  while (fgets(line, sizeof(line), file)) {
    PetscCheck(strchr(line, '\n'), PETSC_COMM_WORLD, PETSC_ERR_FILE_UNEXPECTED, "A line is too long: %s", line);
    if (from-- > 0) continue;
    PetscCall(RunLine(run, line, before, argc, args));
  }
  fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  char      list[PETSC_MAX_PATH_LEN];
  PetscBool given;
  Run       run;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscMemzero(&run, sizeof(run)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-list", list, sizeof(list), &given));
  if (given) PetscCall(RunList(&run, list, argc, args));
  else PetscCall(RunOnce(&run));
  PetscCall(RunDestroy(&run));
  PetscCall(PetscFinalize());
  return 0;
}
