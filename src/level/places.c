/*
  The places where levels can live, in the order of KCyclePlace.
*/
#include <petsckcycle/private/placeimpl.h>

const KCycleKernels *KCycleKernelsOf(KCyclePlace place)
{
#if defined(KCYCLE_HAVE_CUDA)
  const KCycleKernels *const device = &KCycleKernels_Device;
#else
  const KCycleKernels *const device = NULL;
#endif
  const KCycleKernels *const places[KCYCLE_NUM_PLACES] = {&KCycleKernels_Host, &KCycleKernels_Counted, device};

  return places[place];
}
