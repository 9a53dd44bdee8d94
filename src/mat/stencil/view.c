/*
  Stencil matrices on viewers: what is stored in words; contents as AIJ, in the order that the DMDA's matrices have in
  files.
*/
#include "matstencil.h"

static PetscErrorCode ViewInfo(Mat A, PetscViewer viewer)
{
  Mat_Stencil    *st    = (Mat_Stencil *)A->data;
  const PetscInt *size  = st->s.box->size;
  PetscReal       in[4] = {0, 0, 0, 0}, out[4];

  PetscFunctionBegin;
  for (PetscInt l = 0; st->s.set && l < st->s.box->nlines; l++) in[0] += st->s.set[l] >= 0;
  in[1] = (PetscReal)st->s.box->nlines;
  in[2] = (PetscReal)st->s.nclasses;
  in[3] = (PetscReal)sizeof(PetscScalar) *
          ((PetscReal)st->s.own.used + (PetscReal)st->s.nclasses * st->s.shape.ncoeffs * st->s.box->n[0]);
  PetscCallMPI(MPI_Allreduce(in, out, 4, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%d-point stencil, grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT "\n",
                                   st->s.shape.ncoeffs, size[0], size[1], size[2]));
  if (st->ondevice)
    PetscCall(PetscViewerASCIIPrintf(viewer, "coefficients are on the device alone, as a kernel took them from AIJ\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%.0f of %.0f grid lines share %.0f sets of coefficients; %.3g MB stored\n",
                                   (double)out[0], (double)out[1], (double)out[2], (double)out[3] / 1e6));
#if defined(_OPENMP)
  PetscCall(PetscViewerASCIIPrintf(viewer, "threads %d\n", KCycleThreads()));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_Stencil(Mat A, PetscViewer viewer)
{
  Mat_Stencil      *st = (Mat_Stencil *)A->data;
  PetscViewerFormat format;
  PetscBool         ascii;
  const char       *name;
  Mat               aij;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    PetscCall(ViewInfo(A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (ascii && format == PETSC_VIEWER_ASCII_FACTOR_INFO) PetscFunctionReturn(PETSC_SUCCESS);
  if (st->dmview) {
    PetscCall((*st->dmview)(A, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  PetscCall(PetscObjectGetName((PetscObject)A, &name));
  PetscCall(PetscObjectSetName((PetscObject)aij, name));
  PetscCall((*aij->ops->view)(aij, viewer));
  PetscCall(MatDestroy(&aij));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the natural order of files to that of the processes */
static PetscErrorCode FromNatural(const KCycleBox *box, Mat natural, Mat *global)
{
  PetscInt first, end, *rows, at[3];
  IS       is;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(natural, &first, &end));
  PetscCall(PetscMalloc1(end - first, &rows));
  for (PetscInt i = first; i < end; i++) {
    (void)KCycleBoxRowToPoint(box, i, at);
    rows[i - first] = at[0] + box->size[0] * (at[1] + box->size[1] * at[2]);
  }
  PetscCall(ISCreateGeneral(PetscObjectComm((PetscObject)natural), end - first, rows, PETSC_OWN_POINTER, &is));
  PetscCall(MatCreateSubMatrix(natural, is, is, MAT_INITIAL_MATRIX, global));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix without a DM is what the DMDA loads from a file to bring it into its order: AIJ serves it */
static PetscErrorCode MatLoad_Stencil(Mat A, PetscViewer viewer)
{
  KCycleBox *box;
  PetscBool  fits;
  DM         dm;
  Mat        natural, global;

  PetscFunctionBegin;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &natural));
  PetscCall(MatSetSizes(natural, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetType(natural, MATAIJ));
  PetscCall(MatLoad(natural, viewer));
  if (!dm) {
    natural->nonzerostate = PetscMax(A->nonzerostate, natural->nonzerostate) + 1;
    PetscCall(MatHeaderReplace(A, &natural));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KCycleBoxGet(dm, KCYCLE_BOX_ROWS, &box));
  PetscCall(FromNatural(box, natural, &global));
  PetscCall(MatDestroy(&natural));
  PetscCall(MatStencilFromAIJ(global, dm, 0, PETSC_FALSE, MAT_REUSE_MATRIX, &A, &fits));
  PetscCheck(fits, PetscObjectComm((PetscObject)A), PETSC_ERR_FILE_UNEXPECTED,
             "The matrix in the file has entries between points that are no neighbours on the DMDA: it cannot be of "
             "type stencil");
  PetscCall(MatDestroy(&global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several processes DMCreateMatrix() puts its own view, which is silent about what is stored, and its own load in
   place of ours */
PetscErrorCode MatStencilKeepView(Mat A)
{
  Mat_Stencil *st = (Mat_Stencil *)A->data;

  PetscFunctionBegin;
  if (A->ops->view != MatView_Stencil) st->dmview = A->ops->view;
  A->ops->view = MatView_Stencil;
  A->ops->load = MatLoad_Stencil;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatStencilSetViewOps(Mat A)
{
  A->ops->view = MatView_Stencil;
  A->ops->load = MatLoad_Stencil;
}
