/*
  Local Fourier analysis: by what factor a cycle shrinks errors on a grid without ends, where all levels have constant
  coefficients. No object of PETSc is known here.

  An error exp(i theta x) times numbers that repeat after m points in each direction stays one of this kind. So the
  cycle is run on a cell of m points, around which numbers wrap with a factor exp(i phi), phi = m theta, in each
  direction: that of the harmonics that two levels, or more, mix, and the colours of a smoother, without a formula for
  any of them. The factor of the cycle is the largest spectral radius over all phi.
*/
#pragma once

#include <petscsys.h>

#define KCYCLE_FOURIER_LEVELS 3  /* at most */
#define KCYCLE_FOURIER_TERMS  16 /* of a polynomial, at most */

typedef enum {
  KCYCLE_FOURIER_POLYNOMIAL, /* Jacobi, Chebyshev: x moves by keep times its last move, and by weight D^-1 r */
  KCYCLE_FOURIER_REDBLACK,   /* two colours, by the parity of the sum of the coordinates */
  KCYCLE_FOURIER_COLOURS,    /* four or eight, by the parities of the coordinates */
  KCYCLE_FOURIER_LINES       /* zebra */
} KCycleFourierKind;

/* A level. Offsets are numbered as in KCycleShape.find: (dx + 1) + 3 (dy + 1) + 9 (dz + 1) */
typedef struct {
  PetscReal         a[27];     /* the operator */
  PetscReal         p[27];     /* weights with which a coarse point corrects those around it */
  int               factor[3]; /* of coarsening, 1 or 2; coarse points are even ones */
  KCycleFourierKind kind;
  int               nterms;                                                   /* of a polynomial */
  PetscReal         keep[KCYCLE_FOURIER_TERMS], weight[KCYCLE_FOURIER_TERMS]; /* weight[0] of the others, too */
  int               nlines, along[3];                                         /* directions of lines, in their order */
  int               linecolours;                                              /* of lines in 3D: two, or four */
  /* before the coarser levels, and after them: sweeps; is each one forward and backward, is it backward? */
  int               nu[2];
  PetscBool         both[2], back[2];
} KCycleFourierLevel;

typedef struct {
  int                dim, nlevels, kappa;
  KCycleFourierLevel level[KCYCLE_FOURIER_LEVELS]; /* finest first; the last one is solved exactly */
  PetscReal          overcorrect;                  /* factor of corrections to the finest level */
  PetscReal          step[3];                      /* theta is k times this, k > 0, in each direction */
  int                samples;                      /* in each direction; the largest one is searched from there */
} KCycleFourier;

/* false: what it has is no such hierarchy, or singular at a frequency */
PETSC_INTERN PetscBool KCycleFourierFactor(const KCycleFourier *, PetscReal *factor);
/* How many cycles reduce residuals that are noise by a tolerance, in the mean square: fewer than the slowest one takes;
   most: there are no more. A fraction of a cycle is told by logarithms */
PETSC_INTERN PetscBool KCycleFourierCycles(const KCycleFourier *, PetscReal tolerance, int most, PetscReal *cycles);
/* The factor of sweeps alone, on errors that the coarser grid does not see */
PETSC_INTERN PetscBool KCycleFourierSmoothing(const KCycleFourier *, PetscReal *factor);

/* Models of these for tests and tables: the Laplacian, linear weights */
PETSC_INTERN void KCycleFourierLaplacian(int dim, const PetscReal strength[], PetscReal a[27]);
PETSC_INTERN void KCycleFourierLinear(int dim, const int factor[], PetscBool simplex, PetscReal p[27]);
PETSC_INTERN void KCycleFourierChebyshev(KCycleFourierLevel *, int degree, PetscReal upper, PetscReal lower);
