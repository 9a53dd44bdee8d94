/*
  The places where levels can live, in the order of KCycleMemorySpace.
*/
#include <petsckcycle/private/memoryimpl.h>

const KCycleKernels *KCycleKernelsOf(KCycleMemorySpace place)
{
#if defined(KCYCLE_HAVE_CUDA)
  const KCycleKernels *const device = &KCycleKernels_Device;
#else
  const KCycleKernels *const device = NULL;
#endif
  const KCycleKernels *const places[KCYCLE_NUM_MEMORY_SPACES] = {&KCycleKernels_Host, &KCycleKernels_Counted, device};

  return places[place];
}
