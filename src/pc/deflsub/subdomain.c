/*
  Subdomains of deflation on a DMDA: boxes, and natural numbers.
*/
#include "subdomain.h"

/* Default number of unknowns of a subdomain, and the number of subdomains from which on it has more */
#define KC_SUBDOMAIN_SIZE 512
#define KC_SUBDOMAIN_MANY 10000

/* Boxes of about this number of points with sides as equal as the grid allows: directions that are shorter than a side
   have one box */
static void ChooseBoxes(KCycleSubdomains *g, PetscInt points)
{
  PetscBool cut[3] = {PETSC_TRUE, (PetscBool)(g->grid->dim > 1), (PetscBool)(g->grid->dim > 2)}, more = PETSC_TRUE;
  PetscReal side = 1;

  while (more) {
    const PetscInt dim  = cut[0] + cut[1] + cut[2];
    PetscReal      rest = (PetscReal)points;

    more = PETSC_FALSE;
    for (PetscInt d = 0; d < 3; d++) rest /= cut[d] ? 1 : g->grid->size[d];
    side = dim ? PetscPowReal(PetscMax(1, rest), (PetscReal)1.0 / dim) : 1;
    for (PetscInt d = 0; d < 3; d++) {
      if (!cut[d] || g->grid->size[d] >= side) continue;
      cut[d] = PETSC_FALSE;
      more   = PETSC_TRUE;
    }
  }
  for (PetscInt d = 0; d < 3; d++) g->boxes[d] = cut[d] ? PetscMax(1, (PetscInt)(g->grid->size[d] / side + 0.5)) : 1;
}

/* Boxes as given, or of a given size, or neither: chosen */
PetscErrorCode KCycleSubdomainsChoose(MPI_Comm comm, KCycleSubdomains *g, const PetscInt boxes[], PetscInt size)
{
  PetscInt longest = 0;

  PetscFunctionBegin;
  if (!boxes[0]) ChooseBoxes(g, size ? size : PetscMax(KC_SUBDOMAIN_SIZE, g->npoints / KC_SUBDOMAIN_MANY));
  for (PetscInt d = 1; d < 3; d++) longest = g->grid->size[d] > g->grid->size[longest] ? d : longest;
  if (!boxes[0] && !size && g->boxes[longest] == 1) g->boxes[longest] = PetscMin(2, g->grid->size[longest]);
  for (PetscInt d = 0; d < 3 && boxes[0]; d++) {
    g->boxes[d] = d < g->grid->dim && boxes[d] ? boxes[d] : 1;
    PetscCheck(g->boxes[d] <= g->grid->size[d], comm, PETSC_ERR_ARG_OUTOFRANGE,
               "%" PetscInt_FMT " boxes in %c are more than the %" PetscInt_FMT " points of the grid there",
               g->boxes[d], (int)('x' + d), g->grid->size[d]);
    PetscCheck(d < g->grid->dim || boxes[d] <= 1, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "%" PetscInt_FMT " boxes in %c on a grid of %" PetscInt_FMT " dimensions", boxes[d], (int)('x' + d),
               g->grid->dim);
  }
  g->nboxes = g->boxes[0] * g->boxes[1] * g->boxes[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Natural numbers of the points of this process */
void KCycleSubdomainsNatural(const KCycleSubdomains *g, PetscInt natural[])
{
  for (PetscInt k = g->grid->start[2]; k < g->grid->start[2] + g->grid->n[2]; k++) {
    for (PetscInt j = g->grid->start[1]; j < g->grid->start[1] + g->grid->n[1]; j++) {
      for (PetscInt i = g->grid->start[0]; i < g->grid->start[0] + g->grid->n[0]; i++)
        *natural++ = i + g->grid->size[0] * (j + g->grid->size[1] * k);
    }
  }
}

static PetscInt Part(const KCycleSubdomains *g, PetscInt d, PetscInt i)
{
  return (PetscInt)((PetscInt64)i * g->boxes[d] / g->grid->size[d]);
}

PetscInt KCycleSubdomainsBoxOf(const KCycleSubdomains *g, PetscInt natural)
{
  const PetscInt i = natural % g->grid->size[0], line = natural / g->grid->size[0];

  return Part(g, 0, i) +
         g->boxes[0] * (Part(g, 1, line % g->grid->size[1]) + g->boxes[1] * Part(g, 2, line / g->grid->size[1]));
}

/* Boxes of the points of this process: along each line as along the first */
void KCycleSubdomainsBoxes(const KCycleSubdomains *g, PetscInt box[])
{
  const PetscInt n = g->grid->n[0];

  for (PetscInt line = g->grid->n[1] * g->grid->n[2] - 1; line >= 0; line--) {
    const PetscInt row = g->boxes[0] * (Part(g, 1, g->grid->start[1] + line % g->grid->n[1]) +
                                        g->boxes[1] * Part(g, 2, g->grid->start[2] + line / g->grid->n[1]));

    if (line == g->grid->n[1] * g->grid->n[2] - 1) {
      for (PetscInt i = 0; i < n; i++) box[i] = Part(g, 0, g->grid->start[0] + i);
    }
    for (PetscInt i = 0; i < n; i++) box[line * n + i] = box[i] + row;
  }
}

/* Labels are 0 ... number - 1, and each has a point */
PetscErrorCode KCycleLabelsCheck(MPI_Comm comm, PetscInt n, const PetscInt label[], PetscInt *number)
{
  PetscInt        range[2] = {0, 1}, all[2], N, missing = PETSC_INT_MAX, first;
  const PetscInt *count;
  PetscSF         sf;
  PetscLayout     layout;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    range[0] = PetscMin(range[0], label[i]);
    range[1] = PetscMin(range[1], -PetscMax(label[i], 0));
  }
  PetscCallMPI(MPI_Allreduce(range, all, 2, MPIU_INT, MPI_MIN, comm));
  PetscCallMPI(MPI_Allreduce(&n, &N, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(all[0] == 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The labels of subdomains begin at 0, and there is a label %" PetscInt_FMT, all[0]);
  PetscCheck(-all[1] < N, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "There is a label %" PetscInt_FMT " and there are only %" PetscInt_FMT
             " unknowns: labels go from 0 to less than that",
             -all[1], N);
  *number = 1 - all[1];
  PetscCall(PetscLayoutCreateFromSizes(comm, PETSC_DECIDE, *number, 1, &layout));
  PetscCall(PetscSFCreate(comm, &sf));
  PetscCall(PetscSFSetGraphLayout(sf, layout, n, NULL, PETSC_OWN_POINTER, label));
  PetscCall(PetscSFComputeDegreeBegin(sf, &count));
  PetscCall(PetscSFComputeDegreeEnd(sf, &count));
  for (PetscInt i = 0; i < layout->n && missing == PETSC_INT_MAX; i++) {
    if (!count[i]) missing = layout->rstart + i;
  }
  PetscCallMPI(MPI_Allreduce(&missing, &first, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(first == PETSC_INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The labels of subdomains go from 0 to %" PetscInt_FMT ", and no unknown has label %" PetscInt_FMT,
             *number - 1, first);
  PetscCall(PetscSFDestroy(&sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}
