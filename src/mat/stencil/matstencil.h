/*
  MATSTENCIL: the coefficients, and what PETSc's operations need in addition.
*/
#pragma once

#include <petsckcycle/private/stencilimpl.h>

/* Compilers add up several sums in vectors only when told to, and well in vectors of this length alone */
#if defined(__GNUC__) && (defined(PETSC_USE_REAL_DOUBLE) || defined(PETSC_USE_REAL_SINGLE))
  #define KC_SIDE        4
  #define KC_SIDES(type) type __attribute__((vector_size(KC_SIDE * sizeof(type)), aligned(sizeof(type)), may_alias))
typedef KC_SIDES(PetscReal) Four;
#else
  #define KC_SIDE 1
typedef PetscReal Four;
#endif

/* Numbers of count points in a box that grow by 1 in x, width in y, plane in z; the points low <= at < high have all
   neighbours of the grid in it */
typedef struct {
  PetscInt corner[3], width, height, plane, count;
  PetscInt low[3], high[3];
  PetscInt difference[KC_MAX_COEFFS]; /* of columns to their row, as they came last, */
  int      offset[KC_MAX_COEFFS];     /* and their coefficients */
} KCycleFrame;

typedef struct {
  KCycleStencil    s;
  DM               dm; /* that the box belongs to, whatever becomes of the matrix's own */
  /* while values are set: coefficient o of point i on line l is dense[(l * ncoeffs + o) * n + i] */
  PetscScalar     *dense;
  PetscSegBuffer   away; /* values for rows of other processes, */
  /* and what these are to do with them; NOT_SET_VALUES: there are none on this process */
  InsertMode       awaymode;
  PetscBool        ignoreothers;   /* such values are dropped */
  PetscBool        ignorenew;      /* those that have no place in the stencil are */
  PetscBool        columnoriented; /* blocks of values come by columns */
  KCycleFrame      local, global;  /* ghosted local numbers, and rows of this process */
  /* afterwards */
  PetscInt         maxclasses;
  /* differences, relative to the diagonal, that rounding may have made in a symmetric matrix */
  PetscReal        slack;
  PetscHMapI       map;                    /* while lines arrive: from a line's key to its class */
  PetscInt         shared;                 /* lines so far whose coefficients another line had already */
  PetscScalar     *back;                   /* halo buffer for what goes to neighbours, made when first used */
  PetscScalar     *inverse;                /* of the diagonal, for MatInvertBlockDiagonal() */
  PetscInt         rowcols[KC_MAX_COEFFS]; /* for MatGetRow() */
  PetscScalar      rowvalues[KC_MAX_COEFFS];
  PetscObjectState aijstate;                  /* of the matrix when it was last converted for MatGetDiagonalBlock() */
  PetscErrorCode (*dmview)(Mat, PetscViewer); /* how the DMDA shows contents: in natural order */
  KCycleScan       scan;
  void            *device;          /* a copy for products on a device, or NULL, */
  PetscObjectState device_state;    /* and the state of the matrix when that was made */
  PetscBool        ondevice;        /* the values are in that copy alone: MatStencilCopyToHost() */
  void            *map_device;      /* how AIJ on a device becomes this copy, or NULL; fromaij_device.c */
  PetscObjectState symmetric_state; /* of the matrix when it was last known whether it is symmetric */
  PetscBool        symmetric;
} Mat_Stencil;

PETSC_INTERN PetscErrorCode MatStencilGetBack(Mat_Stencil *);

/* pairs.c: coefficient o of line l, and the opposite one of line m, which it leads to. again: both lines have the
   coefficients that they had at the last visit for o, and m is not given. Returns false: enough has been seen */
typedef PetscBool (*KCycleVisitLines)(void *context, const KCycleShape *, const KCycleLine *l, const KCycleLine *m,
                                      int o, PetscBool again);
PETSC_INTERN PetscBool MatStencilVisitLines(const KCycleStencil *, int first, PetscBool all, KCycleVisitLines, void *);

/* A coupling with a point of another process, or beyond a periodic end */
typedef struct {
  PetscInt    point, at[3];
  PetscScalar a, b; /* of the point with that one, and of that one with the point */
} KCycleEdge;
typedef PetscErrorCode (*KCycleVisitEdge)(void *context, const KCycleEdge *);
PETSC_INTERN PetscErrorCode MatStencilVisitEdges(Mat, int first, KCycleVisitEdge, void *);
PETSC_INTERN void           MatStencilCopySeen(const KCycleStencil *, int, PetscScalar *);

/* The point of a global row, relative to the owned box */
static inline void MatStencilPointOf(const KCycleBox *box, PetscInt row, PetscInt at[])
{
  (void)KCycleBoxRowToPoint(box, row, at);
  for (PetscInt d = 0; d < 3; d++) at[d] -= box->start[d];
}

/* Has point i of a line nothing but its diagonal? */
static inline PetscBool MatStencilPointIsIsolated(const KCycleShape *shape, const KCycleLine *l, PetscInt i)
{
  for (int o = 0; o < shape->ncoeffs; o++) {
    if (o != shape->ncoeffs / 2 && KCycleLineCoefficient(l, o, i) != (PetscScalar)0.0) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
