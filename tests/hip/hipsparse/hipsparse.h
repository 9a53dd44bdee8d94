/*
  In the place of hipSPARSE, as hipblas.h.
*/
#pragma once

typedef enum {
  HIPSPARSE_STATUS_SUCCESS
} hipsparseStatus_t;
