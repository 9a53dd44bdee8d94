/*
  What kernels are launched with, in one struct each. The function with the arithmetic, in a header, has it and the
  number of a thread as arguments, so that its own kernel and one that goes through many (blockcuda.cu) call the
  same.
*/
#pragma once

#include <petsckcycle/private/cudaimpl.h>

typedef struct {
  PetscInt  n;
  KCScalar  factor;
  KCScalar *y;
} KCycleCudaScaleWork;

typedef struct {
  PetscInt        n;
  const PetscInt *from;
  const KCScalar *x;
  const PetscInt *to;
  KCScalar       *y;
} KCycleCudaMoveWork;

typedef struct {
  PetscInt        n;
  const PetscInt *start, *from;
  const KCScalar *x;
  const PetscInt *to;
  KCScalar       *y;
} KCycleCudaGatherWork;

typedef struct {
  KCycleCudaStencil st;
  KCycleCudaStep    step;
} KCycleCudaComputeWork;

typedef struct {
  KCycleCudaStencil st;
  KCycleCudaColour  colour;
} KCycleCudaColourWork;

typedef struct {
  KCycleCudaTransfer tr;
  const KCScalar    *e;
  PetscInt           add;
  KCScalar          *x;
} KCycleCudaInterpolateWork;

typedef struct {
  KCycleCudaTransfer tr;
  const KCScalar    *r;
  KCScalar          *b;
} KCycleCudaRestrictWork;

typedef struct {
  KCycleCudaInverse inverse;
  PetscInt          transpose;
  PetscReal         factor;
  const KCScalar   *b;
  KCScalar         *x;
} KCycleCudaInvertWork;
