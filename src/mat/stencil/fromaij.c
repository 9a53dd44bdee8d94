/*
  From AIJ to stencil.
*/
#include "matstencil.h"

/* All lines, in the shape that the matrix has now; an attempt with half of the coefficients comes first */
static PetscErrorCode StoreLines(Mat A, KCycleAIJLines *rows, KCycleFit *fit)
{
  Mat_Stencil *st   = (Mat_Stencil *)A->data;
  PetscBool    same = PETSC_FALSE;
  PetscScalar *values;

  PetscFunctionBegin;
  *fit = KC_FITS;
  PetscCall(PetscMalloc1((size_t)KC_MAX_COEFFS * st->s.box->n[0], &values));
  for (int half = 1; half >= 0 && !same && *fit == KC_FITS; half--) {
    same = PETSC_TRUE;
    PetscCall(MatStencilStoreBegin(A, (PetscBool)half));
    for (PetscInt l = 0; l < st->s.box->nlines && same && *fit == KC_FITS; l++) {
      if (l && st->s.set[l - 1] >= 0 && KCycleAIJLinesRepeat(rows, l)) {
        PetscCall(MatStencilStoreSame(A, l, l - 1));
        continue;
      }
      *fit = KCycleAIJLinesGet(rows, &st->s.shape, l, values);
      if (*fit == KC_FITS) PetscCall(MatStencilStoreLine(A, l, values, &same));
    }
  }
  if (*fit == KC_FITS) PetscCall(MatStencilStoreEnd(A));
  else PetscCall(MatStencilStoreReset(A));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In the shape that the matrix has, if that is enough everywhere, else in a box */
static PetscErrorCode StoreRows(Mat A, KCycleAIJLines *rows, PetscBool *fits)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;
  KCycleShape  box;
  int          mine, all;
  KCycleFit    fit;

  PetscFunctionBegin;
  PetscCall(PetscFree(st->dense));
  PetscCall(MatStencilOffProcessReset(A));
  do {
    PetscCall(StoreLines(A, rows, &fit));
    mine = (int)fit;
    PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
    if (all != (int)KC_FITS_BOX) break;
    KCycleShapeCreate(st->s.box->dim, KC_BOX | st->s.shape.flat, &box);
    PetscCall(MatStencilSetShape(A, &box));
  } while (PETSC_TRUE);
  *fits = (PetscBool)(all != (int)KC_FITS_NOT);
  if (!*fits) PetscCall(MatStencilStoreReset(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How a stencil is made from AIJ */
typedef struct {
  int       flat;  /* KC_FLAT, or 0, of a new stencil */
  PetscBool moved; /* rows are those of other processes than the points */
  PetscBool stays; /* values that are on a device need not come to the host */
  MatReuse  reuse;
} Source;

/* On the host. wrong: row and column of an entry that does not fit, or -1 */
static PetscErrorCode ReadRows(Mat aij, const KCycleBox *box, const Source *from, Mat stencil, PetscBool *fits,
                               PetscInt wrong[])
{
  KCycleAIJLines *rows;

  PetscFunctionBegin;
  PetscCall(KCycleAIJLinesCreate(aij, box, from->moved, &rows));
  PetscCall(StoreRows(stencil, rows, fits));
  PetscCall(KCycleAIJLinesDestroy(&rows, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FromAIJ(Mat aij, DM dm, const Source *from, Mat *stencil, PetscBool *fits, PetscInt wrong[])
{
  KCycleBox *box;
  PetscInt   equal, all;
  char       why[256];
  PetscBool  taken = PETSC_FALSE;

  PetscFunctionBegin;
  wrong[0] = -1;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)aij, fits, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(KCycleBoxCheck(dm, KCYCLE_BOX_KERNELS, sizeof(why), why));
  if (!*fits || why[0]) {
    *fits = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &box));
  equal = from->moved || (aij->rmap->n == box->npoints && aij->cmap->n == box->npoints);
  PetscCallMPI(MPI_Allreduce(&equal, &all, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)aij)));
  *fits = (PetscBool)all;
  if (!*fits) PetscFunctionReturn(PETSC_SUCCESS);
  if (from->reuse == MAT_INITIAL_MATRIX) {
    PetscCall(MatStencilCreateOnDM(dm, from->flat, stencil));
    MatStencilExpectRounding(*stencil, KC_ASSEMBLY_ROUNDING);
  } else
    PetscCall(KCycleBoxCheckSame(PetscObjectComm((PetscObject)aij), KCycleStencilOf(*stencil)->box, box,
                                 "The matrix of type stencil that is to get the values is"));
  if (from->stays) PetscCall(MatStencilFromAIJOnDevice(*stencil, aij, &taken));
  if (!taken) PetscCall(ReadRows(aij, box, from, *stencil, fits, wrong));
  (*stencil)->assembled     = *fits;
  (*stencil)->was_assembled = PETSC_FALSE;
  PetscCall(PetscObjectStateIncrease((PetscObject)*stencil));
  if (!*fits && from->reuse == MAT_INITIAL_MATRIX) PetscCall(MatDestroy(stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatStencilFromAIJ(Mat aij, DM dm, int flat, PetscBool moved, MatReuse reuse, Mat *stencil,
                                 PetscBool *fits)
{
  const Source from = {flat, moved, PETSC_FALSE, reuse};
  PetscInt     wrong[2];

  PetscFunctionBegin;
  PetscCall(FromAIJ(aij, dm, &from, stencil, fits, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For MatConvert() to this type: of AIJ on host or device, and through AIJ of all others */
PetscErrorCode MatConvertFrom_Stencil(Mat A, MatType type, MatReuse reuse, Mat *B)
{
  const Source from = {0, PETSC_FALSE, PETSC_TRUE, MAT_REUSE_MATRIX};
  PetscBool    isaij, fits, is = PETSC_TRUE;
  Mat          aij = A, stencil = reuse == MAT_REUSE_MATRIX ? *B : NULL;
  PetscInt     wrong[2];
  KCycleBox   *box;
  char         why[256];
  DM           dm;

  PetscFunctionBegin;
  (void)type;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(KCycleBoxCheck(dm, KCYCLE_BOX_KERNELS, sizeof(why), why));
  PetscCheck(!why[0], PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The matrix cannot become one of type stencil: %s%s", why,
             dm ? "" : ". Call MatSetDM() with the DMDA of its grid");
  if (stencil) PetscCall(MatStencilIs(stencil, &is));
  PetscCheck(!stencil || is, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The matrix to reuse is of type %s, not stencil: make it with MatConvert(mat, MATSTENCIL, "
             "MAT_INITIAL_MATRIX, &stencil)",
             ((PetscObject)stencil)->type_name);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)A, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!isaij) PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_KERNELS, &box));
  /* of a box, whatever the entries of now, others may come */
  if (!stencil) PetscCall(MatStencilCreateOnDM(dm, box->star ? 0 : KC_BOX, &stencil));
  PetscCall(FromAIJ(aij, dm, &from, &stencil, &fits, wrong));
  PetscCheck(wrong[0] < 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "The matrix cannot become one of type stencil: the entry in row %" PetscInt_FMT ", column %" PetscInt_FMT
             " couples points that are no neighbours on its DMDA",
             wrong[0], wrong[1]);
  PetscCheck(fits, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "The matrix cannot become one of type stencil: it does not fit its DMDA, or has entries between points "
             "that are no neighbours");
  if (!isaij) PetscCall(MatDestroy(&aij));
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatStencilReplaceHeader(A, &stencil));
  else *B = stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For MatAXPY() with a matrix of another type: an empty one that has the places of both */
PetscErrorCode MatAXPYGetPreallocation_Stencil(Mat Y, Mat X, Mat *B)
{
  PetscBool isaij, fits;
  Mat       aij = X, stencil;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)X, &isaij, MATSEQAIJ, MATMPIAIJ, ""));
  if (!isaij) PetscCall(MatConvert(X, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(MatStencilFromAIJ(aij, ((Mat_Stencil *)Y->data)->dm, 0, PETSC_FALSE, MAT_INITIAL_MATRIX, &stencil, &fits));
  PetscCheck(
      fits, PetscObjectComm((PetscObject)Y), PETSC_ERR_ARG_OUTOFRANGE,
      "The matrix that is added to one of type stencil does not fit its DMDA, or has entries between points that "
      "are no neighbours");
  if (!isaij) PetscCall(MatDestroy(&aij));
  PetscCall(MatDuplicate(Y, MAT_DO_NOT_COPY_VALUES, B));
  PetscCall(MatStencilWiden(*B, &KCycleStencilOf(stencil)->shape));
  PetscCall(MatDestroy(&stencil));
  PetscFunctionReturn(PETSC_SUCCESS);
}
