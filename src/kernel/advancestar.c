/* Kernels of iterations by polynomials for a star, see advance.h */
#include "advance.h"

KC_ADVANCE_KERNELS(1, 1, 0)
KC_ADVANCE_KERNELS(3, 3, 0)
KC_ADVANCE_KERNELS(5, 5, 0)

const KCycleAdvanceKernels KCycleAdvanceStars[3] = {KC_ADVANCE_TABLE(1), KC_ADVANCE_TABLE(3), KC_ADVANCE_TABLE(5)};
