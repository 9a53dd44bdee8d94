/*
  The only file that depends on PETSc's version: everything else is written for the newest PETSc, and this header gives
  the older ones what they lack.
*/
#pragma once

#include <petscversion.h>
#include <petscpc.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "petsc-kcycle needs PETSc 3.18 or newer"
#elif PETSC_VERSION_MAJOR > 3 || PETSC_VERSION_MINOR > 26
  #pragma message("petsc-kcycle has been tested with PETSc 3.18 to 3.26; this PETSc is newer: run make check")
#endif

/* The PETSc that the plugin is built for; a test of the refusal of another version sets its own */
#ifndef KCYCLE_PETSC_MINOR
  #define KCYCLE_PETSC_MINOR PETSC_VERSION_MINOR
#endif
#define KCYCLE_PETSC_MAJOR   PETSC_VERSION_MAJOR
#define KCYCLE_PETSC_RELEASE PETSC_VERSION_RELEASE

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
  #define PETSC_INT_MAX PETSC_MAX_INT
#endif

#if PETSC_VERSION_LT(3, 20, 0)
  #define PetscAssertPointer(ptr, arg) PetscValidPointer(ptr, arg)
#endif

#if PETSC_VERSION_LT(3, 22, 0)
  #define PETSC_CURRENT PETSC_DEFAULT
#endif

/* Marks a vector whose numbers are worth nothing */
#if PETSC_VERSION_LT(3, 22, 0)
  #define KCycleVecFlag(v, flag) ((flag) ? VecSetInf(v) : PETSC_SUCCESS)
#else
  #define KCycleVecFlag(v, flag) VecFlag(v, flag)
#endif

/* Is an indefinite operator a success, for trust-region methods? */
#if PETSC_VERSION_LT(3, 20, 0)
  #define KCYCLE_KSP_INDEFINITE(ksp) KSP_DIVERGED_INDEFINITE_MAT
#else
  #define KCYCLE_KSP_INDEFINITE(ksp) \
    ((ksp)->converged_neg_curve ? KSP_CONVERGED_NEG_CURVE : KSP_DIVERGED_INDEFINITE_MAT)
#endif

/* How many items a PetscSegBuffer holds */
#if PETSC_VERSION_LT(3, 22, 0)
typedef size_t KCycleCount;
#else
typedef PetscCount       KCycleCount;
#endif

/* What PCFASTPOISSON is made of: FFTW that is here, in numbers like PETSc's */
#if defined(KCYCLE_HAVE_FFTW) && defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
  #define KCYCLE_HAVE_FASTPOISSON 1
#endif

/* And on a device: kernels, and cuFFT. HIP's transforms are not used */
#if defined(KCYCLE_HAVE_FASTPOISSON) && defined(KCYCLE_HAVE_CUFFT) && !defined(KCYCLE_HAVE_HIP)
  #define KCYCLE_HAVE_FASTPOISSON_DEVICE 1
#endif

/* What a setfromoptions operation receives */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *KCycleOptionItems;
#else
typedef PetscOptionItems KCycleOptionItems;
#endif

#if PETSC_VERSION_GE(3, 24, 0)
  #define KCYCLE_HAVE_PC_MATAPPLYTRANSPOSE 1
#endif

/*
  What destroys the context of a container receives the context up to 3.22, a pointer to it after; declared void * from
  3.25 on
*/
#if PETSC_VERSION_LT(3, 23, 0)
typedef void *KCycleCtxDestroyArg;
  #define KCycleCtxFromDestroyArg(arg)                (arg)
  #define KCycleContainerSetCtxDestroy(container, fn) PetscContainerSetUserDestroy(container, fn)
#else
  #if PETSC_VERSION_LT(3, 25, 0)
typedef void           **KCycleCtxDestroyArg;
  #else
typedef void *KCycleCtxDestroyArg;
  #endif
  #define KCycleCtxFromDestroyArg(arg)                (*(void **)(arg))
  #define KCycleContainerSetCtxDestroy(container, fn) PetscContainerSetCtxDestroy(container, fn)
#endif

/* Matrices answer this question up to 3.24 */
#if PETSC_VERSION_LT(3, 25, 0)
  #define KCYCLE_SET_MISSING_DIAGONAL(A, fn) ((A)->ops->missingdiagonal = (fn))
#else
  #define KCYCLE_SET_MISSING_DIAGONAL(A, fn) ((void)(A), (void)(fn))
#endif

/* A KSP that has its grid but gets its operators from elsewhere */
#if PETSC_VERSION_LT(3, 25, 0)
  #define KCycleKSPSetDMInactive(ksp) KSPSetDMActive(ksp, PETSC_FALSE)
#else
  #define KCycleKSPSetDMInactive(ksp) KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE)
#endif

/* Graphs of matrices with several unknowns at a point: made of some of them */
#if PETSC_VERSION_LT(3, 21, 0)
  #define KCYCLE_GRAPH_INDEX_PARAMETERS
  #define KCYCLE_GRAPH_INDEX_ARGUMENTS
#else
  #define KCYCLE_GRAPH_INDEX_PARAMETERS PetscInt nindices, PetscInt indices[],
  #define KCYCLE_GRAPH_INDEX_ARGUMENTS  nindices, indices,
#endif

/* Functions that are called when events begin and end, and the name of an event */
#if PETSC_VERSION_LT(3, 20, 0)
  #define KCycleLogCallbacksBegin(begin, end) PetscLogSet(begin, end)
static inline PetscErrorCode KCycleLogEventGetName(PetscLogEvent event, const char **name)
{
  PetscStageLog  log;
  PetscErrorCode ierr = PetscLogGetStageLog(&log);

  if (!ierr) *name = log->eventLog->eventInfo[event].name;
  return ierr;
}
#else
  #define KCycleLogCallbacksBegin(begin, end) PetscLogLegacyCallbacksBegin(begin, end, NULL, NULL)
  #define KCycleLogEventGetName(event, name)  PetscLogEventGetName(event, name)
#endif

/* The type of streams that wait for no other one */
#if PETSC_VERSION_LT(3, 23, 0)
  #define KCYCLE_STREAM_NONBLOCKING PETSC_STREAM_GLOBAL_NONBLOCKING
#else
  #define KCYCLE_STREAM_NONBLOCKING PETSC_STREAM_NONBLOCKING
#endif

/* Does KSP scale the operator and the right side in place? None does from 3.26 on */
#if PETSC_VERSION_LT(3, 26, 0)
  #define KCycleKSPScales(ksp) ((ksp)->dscale)
#else
  #define KCycleKSPScales(ksp) PETSC_FALSE
#endif

/* Is -pc_mg_levels an error for PCGAMG? */
#if PETSC_VERSION_LT(3, 21, 0)
  #define KCYCLE_GAMG_CHOOSES_LEVELS PETSC_FALSE
#else
  #define KCYCLE_GAMG_CHOOSES_LEVELS PETSC_TRUE
#endif

/* Functions that PETSc tells of events; before 3.20 there is one for each end, and a new one calls those before */
#if PETSC_VERSION_LT(3, 20, 0)
  #define KCYCLE_LOG_BEGIN            PetscLogPLB
  #define KCYCLE_LOG_END              PetscLogPLE
  #define KCycleLogListen(begin, end) PetscLogSet(begin, end)
#else
  #define KCYCLE_LOG_BEGIN            NULL
  #define KCYCLE_LOG_END              NULL
  #define KCycleLogListen(begin, end) PetscLogLegacyCallbacksBegin(begin, end, NULL, NULL)
#endif
