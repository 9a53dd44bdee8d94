/* Kernels on a line of a box, see line.h */
#include "line.h"

KC_LINE_KERNELS(3, 3, KC_BOX)
KC_LINE_KERNELS(9, 9, KC_BOX)

const KCycleLineKernels KCycleLineBoxes[2] = {KC_LINE_TABLE(3), KC_LINE_TABLE(9)};
