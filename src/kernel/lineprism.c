/* Kernels on a line of a prism, see line.h */
#include "line.h"

KC_LINE_KERNELS(X, 5, KC_PRISM_X)
KC_LINE_KERNELS(Y, 9, KC_PRISM_Y)
KC_LINE_KERNELS(Z, 9, KC_PRISM_Z)

const KCycleLineKernels KCycleLinePrisms[3] = {KC_LINE_TABLE(X), KC_LINE_TABLE(Y), KC_LINE_TABLE(Z)};
