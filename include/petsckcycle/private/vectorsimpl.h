/*
  Where a pass finds the right side and x, if they are not arrays of all points of its grid in its own numbers.

  With ghost points, what the process owns is in arrays of the level, as always, and what others own lies apart, line by
  line. In single precision the finest level takes the right side from the caller's array and gives x to it, in PETSc's
  numbers: they are converted while they come to the cache or leave it.
*/
#pragma once

#include <petsckcycle/private/ghostsimpl.h>

struct _KCycleVectors {
  const KCycleGhosts *ghosts; /* or NULL */
  KCScalar           *b, *x;  /* points of others */
  /* the right side, which levels have times `scale`; or NULL: it is an array of the level */
  const PetscScalar  *from;
  PetscScalar        *others; /* what others own of it */
  PetscScalar        *to;     /* gets x of the last pass, times `back` */
  PetscReal           scale, back;
  PetscReal           limit; /* of `from`: larger numbers are not for single precision, and are not taken as they are */
  PetscReal          *most;  /* the largest numbers of `from`: 8 for each thread */
};

#define KC_MOST 8

/* A number of `from` in those of the level. NaN stays what it is */
KC_POINT KCScalar KCycleVectorsConvert(PetscScalar x, PetscReal scale, PetscReal limit)
{
#if defined(PETSC_USE_COMPLEX)
  (void)limit;
  return x * scale;
#else
  return (KCScalar)((x > limit ? limit : x < -limit ? -limit : x) * scale);
#endif
}

/* Room for the largest numbers of a thread */
static inline PetscReal *KCycleVectorsMost(const KCycleVectors *v)
{
  return v->most + KC_MOST * KCycleThread();
}

/* A line of a vector: its parts lie after each other on the grid. at: where they are, in the array of owned points or
   in that of others */
typedef struct {
  int       count;
  PetscInt  n[3], at[3];
  PetscBool owned[3];
} KCycleVectorsLine;

static inline void KCycleVectorsPart(KCycleVectorsLine *line, PetscBool owned, PetscInt at, PetscInt n)
{
  line->owned[line->count] = owned;
  line->at[line->count]    = at;
  line->n[line->count++]   = n;
}

/* Line (j, k) of a grid; v: NULL, or where vectors are */
static inline void KCycleVectorsFind(const KCycleBox *box, const KCycleVectors *v, PetscInt j, PetscInt k,
                                     KCycleVectorsLine *line)
{
  const KCycleGhosts *g = v ? v->ghosts : NULL;
  PetscInt            others, oj, ok;

  line->count = 0;
  if (!g) {
    KCycleVectorsPart(line, PETSC_TRUE, box->n[0] * (j + box->n[1] * k), box->n[0]);
    return;
  }
  others = g->number[j + box->n[1] * k];
  oj     = j - g->low[1];
  ok     = k - g->low[2];
  if (oj < 0 || oj >= g->box->n[1] || ok < 0 || ok >= g->box->n[2]) {
    KCycleVectorsPart(line, PETSC_FALSE, others, box->n[0]);
    return;
  }
  if (g->low[0]) KCycleVectorsPart(line, PETSC_FALSE, others, g->low[0]);
  KCycleVectorsPart(line, PETSC_TRUE, g->box->n[0] * (oj + g->box->n[1] * ok), g->box->n[0]);
  if (box->n[0] > g->low[0] + g->box->n[0])
    KCycleVectorsPart(line, PETSC_FALSE, others + g->low[0], box->n[0] - g->low[0] - g->box->n[0]);
}
