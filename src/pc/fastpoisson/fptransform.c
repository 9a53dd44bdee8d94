/*
  PCFASTPOISSON: sine, cosine and Fourier transforms of constant directions, by FFTW.

  With the value given at (D), or no flux through (N), the point one cell (or for N: no cell) beyond the end, or at half
  a cell (d, n), the eigenvectors of the second difference c (2, -1) on points j = 0 ... n - 1 are, for k = 0 ... n - 1,

      D D   sin(pi (j + 1) (k + 1) / (n + 1))            DST-I       2 c (1 - cos(pi (k + 1) / (n + 1)))
      d d   sin(pi (j + 1/2) (k + 1) / n)                DST-II      2 c (1 - cos(pi (k + 1) / n))
      D N   sin(pi (j + 1) (k + 1/2) / n)                DST-III     2 c (1 - cos(pi (k + 1/2) / n))
      d n   sin(pi (j + 1/2) (k + 1/2) / n)              DST-IV      the same
      N N   cos(pi j k / (n - 1))                        DCT-I       2 c (1 - cos(pi k / (n - 1)))
      n n   cos(pi (j + 1/2) k / n)                      DCT-II      2 c (1 - cos(pi k / n))
      N D   cos(pi j (k + 1/2) / n)                      DCT-III     2 c (1 - cos(pi (k + 1/2) / n))
      n d   cos(pi (j + 1/2) (k + 1/2) / n)              DCT-IV      the same
      periodic                                           DFT         2 c (1 - cos(2 pi k / n))

  Ends that mix D or N with d or n have no such transform in FFTW: their eigenvectors are multiplied by.
*/
#include "fastpoissonimpl.h"

#if defined(KCYCLE_HAVE_FASTPOISSON)
  #include <petscblaslapack.h>
  #include <fftw3.h>

static const KCycleFPKind kinds[] = {
    {{KCYCLE_FP_DIRICHLET, KCYCLE_FP_DIRICHLET}, {KCYCLE_FP_DST1, KCYCLE_FP_DST1}, 1, 1, "DST-I"},
    {{KCYCLE_FP_DIRICHLET_HALF, KCYCLE_FP_DIRICHLET_HALF}, {KCYCLE_FP_DST2, KCYCLE_FP_DST3}, 1, 0, "DST-II"},
    {{KCYCLE_FP_DIRICHLET, KCYCLE_FP_NEUMANN}, {KCYCLE_FP_DST3, KCYCLE_FP_DST2}, 0.5, 0, "DST-III"},
    {{KCYCLE_FP_DIRICHLET_HALF, KCYCLE_FP_NEUMANN_HALF}, {KCYCLE_FP_DST4, KCYCLE_FP_DST4}, 0.5, 0, "DST-IV"},
    {{KCYCLE_FP_NEUMANN, KCYCLE_FP_NEUMANN}, {KCYCLE_FP_DCT1, KCYCLE_FP_DCT1}, 0, -1, "DCT-I"},
    {{KCYCLE_FP_NEUMANN_HALF, KCYCLE_FP_NEUMANN_HALF}, {KCYCLE_FP_DCT2, KCYCLE_FP_DCT3}, 0, 0, "DCT-II"},
    {{KCYCLE_FP_NEUMANN, KCYCLE_FP_DIRICHLET}, {KCYCLE_FP_DCT3, KCYCLE_FP_DCT2}, 0.5, 0, "DCT-III"},
    {{KCYCLE_FP_NEUMANN_HALF, KCYCLE_FP_DIRICHLET_HALF}, {KCYCLE_FP_DCT4, KCYCLE_FP_DCT4}, 0.5, 0, "DCT-IV"},
    {{KCYCLE_FP_OTHER, KCYCLE_FP_OTHER}, {KCYCLE_FP_DFT, KCYCLE_FP_INVERSE_DFT}, 0, 0, "DFT"},
};
static const PetscInt nkinds = (PetscInt)(sizeof(kinds) / sizeof(kinds[0]));

/* The transform for a direction, or NULL: there is none */
const KCycleFPKind *KCycleFPKindOf(const KCycleFPDirection *dir)
{
  if (dir->constant && dir->periodic) return &kinds[nkinds - 1];
  for (PetscInt t = 0; t < nkinds - 1 && dir->constant; t++) {
    if (kinds[t].end[0] == dir->end[0] && kinds[t].end[1] == dir->end[1]) return &kinds[t];
  }
  return NULL;
}

/* Eigenvalues, as 4 c sin^2: small ones have all digits; and the factor by which both transforms multiply */
void KCycleFPTransformSpectrum(KCycleFPDirection *dir)
{
  const KCycleFPKind *t = dir->kind;
  const PetscInt      n = dir->n;

  for (PetscInt k = 0; k < n; k++) {
    /* FFTW: real parts ascending, then imaginary parts descending */
    const PetscReal angle =
        dir->periodic ? 2 * (PetscReal)(k <= n / 2 ? k : n - k) / n : (k + t->shift) / (n + t->longer);
    const PetscReal sine = PetscSinReal(PETSC_PI * angle / 2);

    dir->lambda[k] = 4 * dir->c * sine * sine;
  }
  dir->norm = dir->periodic ? n : 2 * (n + t->longer);
}

static PetscErrorCode PlanCreate(PC_FastPoisson *fp, KCycleFPDirection *dir, KCycleFPTransform transform, void **plan)
{
  static const fftw_r2r_kind names[]   = {FFTW_RODFT00, FFTW_RODFT10, FFTW_RODFT01, FFTW_RODFT11, FFTW_REDFT00,
                                          FFTW_REDFT10, FFTW_REDFT01, FFTW_REDFT11, FFTW_R2HC,    FFTW_HC2R};
  const unsigned             efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};
  int                        n, pitch;

  PetscFunctionBegin;
  PetscCheck(dir->n <= 1 << 30, PETSC_COMM_SELF, PETSC_ERR_SUP, "FFTW transforms no %" PetscInt_FMT " points", dir->n);
  n     = (int)dir->n;
  pitch = (int)dir->pitch;
  *plan = fftw_plan_many_r2r(1, &n, (int)dir->width, fp->buffer[0], NULL, 1, pitch, fp->buffer[1], NULL, 1, pitch,
                             &names[transform], efforts[fp->effort] | FFTW_DESTROY_INPUT);
  PetscCheck(*plan, PETSC_COMM_SELF, PETSC_ERR_LIB, "FFTW has no plan for %s of %" PetscInt_FMT " points",
             dir->kind->name, dir->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plans, between the buffers */
PetscErrorCode KCycleFPTransformCreate(PC pc)
{
  PC_FastPoisson *fp = (PC_FastPoisson *)pc->data;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    KCycleFPDirection *dir = &fp->dir[d];

    if (dir->method != KCYCLE_FP_TRANSFORM) continue;
    PetscCall(PlanCreate(fp, dir, dir->kind->transform[0], &dir->plan[0]));
    if (dir->kind->transform[1] == dir->kind->transform[0]) dir->plan[1] = dir->plan[0];
    else PetscCall(PlanCreate(fp, dir, dir->kind->transform[1], &dir->plan[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleFPTransformDestroy(KCycleFPDirection *dir)
{
  PetscFunctionBegin;
  if (dir->plan[1] && dir->plan[1] != dir->plan[0]) fftw_destroy_plan((fftw_plan)dir->plan[1]);
  if (dir->plan[0]) fftw_destroy_plan((fftw_plan)dir->plan[0]);
  dir->plan[0] = dir->plan[1] = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines in one of the two buffers become lines in the other one; sense 0: points become modes, 1: the reverse */
void KCycleFPKernel(const PC_FastPoisson *fp, const KCycleFPDirection *dir, int sense, PetscInt lines,
                    PetscScalar *from, PetscScalar *to)
{
  const PetscScalar one = 1, zero = 0;
  PetscBLASInt      n = (PetscBLASInt)dir->n, m = (PetscBLASInt)lines, pitch = (PetscBLASInt)dir->pitch;

  if (dir->method == KCYCLE_FP_VECTORS) {
    BLASgemm_("N", "N", &n, &m, &n, &one, sense ? dir->back : dir->ahead, &n, from, &pitch, &zero, to, &pitch);
    return;
  }
  if (lines < dir->width) (void)memset(from + lines * pitch, 0, (size_t)((dir->width - lines) * pitch) * sizeof(*from));
  if (from == fp->buffer[0]) fftw_execute((fftw_plan)dir->plan[sense]);
  else fftw_execute_r2r((fftw_plan)dir->plan[sense], from, to);
}

/* What FFTW has measured before, from the file to all processes */
PetscErrorCode PCFastPoissonWisdomLoad(PC pc)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt     rank, length = -1;
  char           *text = NULL;
  int             fine;

  PetscFunctionBegin;
  if (!fp->load[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) {
    FILE *file = fopen(fp->load, "rb");
    long  end  = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;

    if (end >= 0 && end < 1 << 30) {
      length = (PetscMPIInt)end;
      PetscCall(PetscCalloc1(length + 1, &text));
      rewind(file);
      if (fread(text, 1, (size_t)length, file) != (size_t)length) length = -1;
    }
    if (file) (void)fclose(file);
  }
  PetscCallMPI(MPI_Bcast(&length, 1, MPI_INT, 0, comm));
  if (length < 0) PetscCall(PetscFree(text));
  PetscCheck(length >= 0, comm, PETSC_ERR_FILE_OPEN,
             "The file %s with FFTW's wisdom cannot be read: write one with -pc_fastpoisson_wisdom_save", fp->load);
  if (rank) PetscCall(PetscCalloc1(length + 1, &text));
  PetscCallMPI(MPI_Bcast(text, length, MPI_CHAR, 0, comm));
  fine = fftw_import_wisdom_from_string(text);
  PetscCall(PetscFree(text));
  PetscCheck(fine, comm, PETSC_ERR_FILE_UNEXPECTED,
             "The file %s is not FFTW's wisdom, or that of another FFTW, or it is damaged: write it anew with "
             "-pc_fastpoisson_effort measure -pc_fastpoisson_wisdom_save",
             fp->load);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What the first process has measured so far */
PetscErrorCode PCFastPoissonWisdomSave(PC pc)
{
  PC_FastPoisson *fp   = (PC_FastPoisson *)pc->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt     rank, fine = 1;

  PetscFunctionBegin;
  if (!fp->save[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(fp->effort != PC_FASTPOISSON_ESTIMATE, comm, PETSC_ERR_ARG_INCOMP,
             "FFTW gathers no wisdom without measuring: give -pc_fastpoisson_effort measure or patient with "
             "-pc_fastpoisson_wisdom_save");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) fine = fftw_export_wisdom_to_filename(fp->save);
  PetscCallMPI(MPI_Bcast(&fine, 1, MPI_INT, 0, comm));
  PetscCheck(fine, comm, PETSC_ERR_FILE_WRITE, "FFTW's wisdom cannot be written to %s", fp->save);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
