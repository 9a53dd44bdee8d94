/* Kernels of iterations by polynomials for a box, see advance.h */
#include "advance.h"

KC_ADVANCE_KERNELS(3, 3, KC_BOX)
KC_ADVANCE_KERNELS(9, 9, KC_BOX)

const KCycleAdvanceKernels KCycleAdvanceBoxes[2] = {KC_ADVANCE_TABLE(3), KC_ADVANCE_TABLE(9)};
