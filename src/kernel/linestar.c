/* Kernels on a line of a star, see line.h */
#include "line.h"

KC_LINE_KERNELS(1, 1, 0)
KC_LINE_KERNELS(3, 3, 0)
KC_LINE_KERNELS(5, 5, 0)

const KCycleLineKernels KCycleLineStars[3] = {KC_LINE_TABLE(1), KC_LINE_TABLE(3), KC_LINE_TABLE(5)};
