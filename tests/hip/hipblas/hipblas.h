/*
  In the place of hipBLAS, which Debian has no package of: the names that PETSc's header for HIP declares functions
  with.
*/
#pragma once

typedef void *hipblasHandle_t;
typedef enum {
  HIPBLAS_STATUS_SUCCESS
} hipblasStatus_t;
