/*
  Exchanges of halos.
*/
#include <petsckcycle/private/boximpl.h>

/* In debugging builds what an exchange fills is spoilt first, so that reading what was not exchanged is seen */
static PetscErrorCode SpoilHalo(const KCycleBox *box, KCScalar *halo)
{
  const PetscInt *leaf;
  PetscInt        nleaves = 0;
  const PetscReal nan     = (PetscReal)NAN; /* not made by arithmetic, which -fp_trap would trap */

  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(KCycleBoxGetSF(box, PETSC_TRUE), NULL, &nleaves, &leaf, NULL));
  for (PetscInt i = 0; i < nleaves; i++) halo[leaf ? leaf[i] : i] = (KCScalar)nan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBoxExchangeBegin(const KCycleBox *box, PetscBool corners, const KCScalar *x, KCScalar *halo)
{
  PetscFunctionBegin;
  if (!KCycleBoxTalks(box)) PetscFunctionReturn(PETSC_SUCCESS);
  KCycleRounds++;
  if (PetscDefined(USE_DEBUG)) PetscCall(SpoilHalo(box, halo));
  PetscCall(PetscSFBcastBegin(KCycleBoxGetSF(box, corners), KC_MPI_NUMBER, x, halo, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KCycleBoxExchangeEnd(const KCycleBox *box, PetscBool corners, const KCScalar *x, KCScalar *halo)
{
  PetscFunctionBegin;
  if (KCycleBoxTalks(box))
    PetscCall(PetscSFBcastEnd(KCycleBoxGetSF(box, corners), KC_MPI_NUMBER, x, halo, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where there is nothing to do meanwhile */
PetscErrorCode KCycleBoxExchange(const KCycleBox *box, PetscBool corners, const KCScalar *x, KCScalar *halo)
{
  PetscFunctionBegin;
  PetscCall(KCycleBoxExchangeBegin(box, corners, x, halo));
  PetscCall(KCycleBoxExchangeEnd(box, corners, x, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds halo values to the points that they are copies of. What PETSc has instead of MPI adds up its own numbers only */
PetscErrorCode KCycleBoxReduce(const KCycleBox *box, const KCScalar *halo, KCScalar *x)
{
  PetscSF sf = KCycleBoxGetSF(box, PETSC_TRUE);

  PetscFunctionBegin;
  if (KCycleBoxTalks(box)) KCycleRounds++;
#if defined(PETSC_HAVE_MPIUNI)
  const PetscInt    *leaf;
  const PetscSFNode *root;
  PetscInt           n;

  PetscCall(PetscSFGetGraph(sf, NULL, &n, &leaf, &root));
  for (PetscInt i = 0; i < n; i++) x[root[i].index] += halo[leaf ? leaf[i] : i];
#else
  PetscCall(PetscSFReduceBegin(sf, KC_MPI_NUMBER, halo, x, KC_MPI_SUM));
  PetscCall(PetscSFReduceEnd(sf, KC_MPI_NUMBER, halo, x, KC_MPI_SUM));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
