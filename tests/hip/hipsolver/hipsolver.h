/*
  In the place of hipSOLVER, as hipblas.h.
*/
#pragma once

typedef void *hipsolverHandle_t;
typedef enum {
  HIPSOLVER_STATUS_SUCCESS
} hipsolverStatus_t;
