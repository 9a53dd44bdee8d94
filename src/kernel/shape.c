/*
  Shapes of stencils: 3 points in 1D, 5 or 9 in 2D, 7, 15 or 27 in 3D.
*/
#include <petsckcycle/private/kernelimpl.h>

/* dim: of the grid; kind: box as KCycleShape has it, and KC_FLAT */
void KCycleShapeCreate(PetscInt dim, int kind, KCycleShape *shape)
{
  const int box = kind & ~KC_FLAT, reach[3] = {1, dim > 1, dim > 2 && !(kind & KC_FLAT)};

  memset(shape, 0, sizeof(*shape)); /* kernels for devices get all of it */
  shape->flat = kind & KC_FLAT;
  shape->box  = dim == 3 || box <= KC_BOX ? (dim > 1 ? box : 0) : KC_BOX;
  for (int i = 0; i < 27; i++) shape->find[i] = -1;
  for (int dz = -reach[2]; dz <= reach[2]; dz++) {
    for (int dy = -reach[1]; dy <= reach[1]; dy++) {
      const int away  = (dy != 0) + (dz != 0);
      const int width = !away || (shape->box && KC_WIDE(9, shape->box, shape->nl)) ? 1 : 0;

      if (away > 1 && (!shape->box || shape->box == KC_PRISM_X)) continue;
      for (int dx = -width; dx <= width; dx++) {
        shape->find[(dx + 1) + 3 * (dy + 1) + 9 * (dz + 1)] = shape->ncoeffs;
        shape->line[shape->ncoeffs]                         = shape->nl;
        shape->dx[shape->ncoeffs++]                         = dx;
      }
      shape->dy[shape->nl]   = dy;
      shape->dz[shape->nl++] = dz;
    }
  }
}
