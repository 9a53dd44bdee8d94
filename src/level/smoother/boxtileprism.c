/* Planes of prisms in a tile, see boxtile.h */
#include "boxtile.h"

KC_BOX_PLANES(X, 5, KC_PRISM_X)
KC_BOX_PLANES(Y, 9, KC_PRISM_Y)
KC_BOX_PLANES(Z, 9, KC_PRISM_Z)

const KCycleBoxKernels KCycleBoxPlanesOfPrisms[3] = {
    {Relax_X, Restrict_X}, {Relax_Y, Restrict_Y}, {Relax_Z, Restrict_Z}};
