/*
  The facts of an operator: what one look at all its coefficients has found, on all processes. They hold no decision;
  see policyimpl.h for these.
*/
#pragma once

#include <petscsystypes.h>

/* A coupling that is less than this part of another one is weak beside it */
#define KC_WEAK 0.1

/* Rows are global */
typedef struct {
  PetscBool        done;
  PetscObjectState state; /* of the matrix at that time */
  /* first row with a NaN or Inf, with a zero on the diagonal but for that not empty, empty; PETSC_INT_MAX: none */
  PetscInt         notfinite, zero, empty;
  PetscReal        scale, sums; /* largest entry of the diagonal, largest row sum relative to it */
  PetscReal        bound;       /* the largest row sum of |D^-1 A|, a bound of the eigenvalues of D^-1 A */
  /* couplings in each direction, whatever the place of a neighbour across: their sum and number */
  PetscReal        sum[3], count[3];
  /* points whose couplings along d are weak beside those along e: weak[d][e], and beside both others: weak[d][d] */
  PetscReal        weak[3][3];
  /* in 2D, where MatStencilScanWeakRuns() has looked, else 0: points at which direction d is weak beside the other one,
     as it is at the points before and behind them in the other one */
  PetscBool        ran;
  PetscReal        runs[2];
  PetscReal        thin[3]; /* points one of whose couplings along d is weaker than one in another direction */
  /* couplings of a point with opposite neighbours differ by at most these factors: summed up across; one by one */
  PetscReal        jump, rough;
  /* these two are there where MatStencilScanAsymmetry() has looked */
  PetscBool        drifts;
  /* differences of pairs of couplings a(p, q) and a(q, p) over their sums, all added up: 0 symmetric, 1 one-way */
  PetscReal        skew;
  PetscReal        unequal; /* the largest of these differences, over their sum */
  /* unless symmetric, the same of couplings ahead and behind in a row, for each direction */
  PetscReal        drift[3];
  PetscBool        isolated; /* there are isolated points: rows with a diagonal alone */
  PetscBool        cuts;     /* inside the grid couplings are missing, so that parts may be closed */
} KCycleScan;
