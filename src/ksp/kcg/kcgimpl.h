/*
  KSPKCG: what its files share.
*/
#pragma once

#include <petsckcycle/private/stencilimpl.h>
#include <petsc/private/kspimpl.h>

typedef struct {
  KSPCGType       type;
  PetscBool       fuse;    /* fused passes, where there are some */
  PetscBool       chosen;  /* of the last solve: */
  Mat             stencil; /* the operator as a stencil, while it exists, or NULL */
  PetscBool       repeats; /* A p is computed anew from p, and neither A z nor A p is stored */
  PetscBool       arrays;  /* vectors have plain arrays on the host */
  KCycleConjugate passes;
  Vec             w, s; /* A z and A p, where they are stored */
  /* of the iteration: (z, r), (z, A z), (p, A p), with those of the iteration before; and |z|^2 */
  PetscScalar     zr, zaz, pap, lastzr, lastpap;
  PetscReal       zz;
  PetscScalar     alpha, beta;
  /* T of the Lanczos process, where eigenvalues are asked for: off[i] couples i and the one before */
  PetscInt        nentries;
  PetscReal      *diagonal, *off;
} KSP_KCG;

/* kcgeigen.c */
PETSC_INTERN PetscErrorCode KCGLanczosSetUp(KSP);
PETSC_INTERN PetscErrorCode KCGLanczosStep(KSP, PetscInt i, PetscScalar lastalpha);
PETSC_INTERN PetscErrorCode KCGLanczosReset(KSP_KCG *);
