/* Kernels of iterations by polynomials for a prism, see advance.h */
#include "advance.h"

KC_ADVANCE_KERNELS(X, 5, KC_PRISM_X)
KC_ADVANCE_KERNELS(Y, 9, KC_PRISM_Y)
KC_ADVANCE_KERNELS(Z, 9, KC_PRISM_Z)

const KCycleAdvanceKernels KCycleAdvancePrisms[3] = {KC_ADVANCE_TABLE(X), KC_ADVANCE_TABLE(Y), KC_ADVANCE_TABLE(Z)};
