/* Planes of boxes in a tile, see boxtile.h */
#include "boxtile.h"

KC_BOX_PLANES(3, 3, KC_BOX)
KC_BOX_PLANES(9, 9, KC_BOX)

const KCycleBoxKernels KCycleBoxPlanesOfBoxes[2] = {{Relax_3, Restrict_3}, {Relax_9, Restrict_9}};
