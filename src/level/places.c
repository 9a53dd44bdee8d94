/*
  The places where levels can live, in the order of KCyclePlace.
*/
#include <petsckcycle/private/placeimpl.h>

const KCycleKernels *KCycleKernelsOf(KCyclePlace place)
{
  static const KCycleKernels *const places[KCYCLE_NUM_PLACES] = {&KCycleKernels_Host, &KCycleKernels_Counted};

  return places[place];
}
