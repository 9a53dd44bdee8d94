/*
  The cell of local Fourier analysis, see fourierimpl.h: its levels, and a cycle on them.
*/
#pragma once

#include <petsckcycle/private/fourierimpl.h>

#define MOST   64 /* points of a cell */
#define SMALL  8  /* at most, if its matrix is made */
#define ACROSS 8  /* points in a direction */

/* Complex numbers, with any PETSc */
typedef struct {
  PetscReal re, im;
} Complex;

/* The cell of a level: points i of it are coupled to points to[i][o], by c[i][o] */
typedef struct {
  const KCycleFourierLevel *level;
  int                       m[3], n, ncoeffs;
  unsigned char             to[MOST][27], at[MOST][3];
  Complex                   c[MOST][27];
  PetscReal                 diagonal;
  /* of restriction: points around a coarse one, where they are, their weights here and with its conjugate */
  int                       nweights;
  unsigned char             from[MOST][27];
  Complex                   w[MOST][27];
  Complex                   line[3][ACROSS * ACROSS]; /* inverse of the systems of lines in each direction */
  Complex                   inverse[SMALL * SMALL];   /* of the coarsest operator */
  Complex                   u[MOST], b[MOST], r[MOST], before[MOST];
} Cell;

static inline Complex Plus(Complex x, Complex y)
{
  const Complex z = {x.re + y.re, x.im + y.im};

  return z;
}

static inline Complex Minus(Complex x, Complex y)
{
  const Complex z = {x.re - y.re, x.im - y.im};

  return z;
}

static inline Complex Times(Complex x, Complex y)
{
  const Complex z = {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};

  return z;
}

static inline Complex Scaled(PetscReal s, Complex x)
{
  const Complex z = {s * x.re, s * x.im};

  return z;
}

static inline Complex Conjugate(Complex x)
{
  const Complex z = {x.re, -x.im};

  return z;
}

static inline PetscReal Square(Complex x)
{
  return x.re * x.re + x.im * x.im;
}
PETSC_INTERN void      KCycleFourierOffset(int o, int offset[]);
PETSC_INTERN PetscBool KCycleFourierSizes(const KCycleFourier *, int m[]);
PETSC_INTERN PetscBool KCycleFourierCellsCreate(const KCycleFourier *, const PetscReal phi[], Cell cells[]);
PETSC_INTERN Complex   KCycleFourierResidual(const Cell *, int i);
PETSC_INTERN void      KCycleFourierSmooth(Cell *, int dim, int which);
PETSC_INTERN void      KCycleFourierCycle(const KCycleFourier *, Cell cells[], int l, int kappa);
PETSC_INTERN void      KCycleFourierFilter(const KCycleFourier *, const PetscReal phi[], Cell *);
