static char help[] = "What a GPU can do at best: copies of vectors.\n\
  -n <4096,4096>    points in each direction\n\
  -times <20>       runs, of which the median counts\n\n";

/*
  Prints one line:

    limit,<points>,<seconds of a copy>,<bytes read and written a second>

  What a solve by cuFFT takes: bench/battery.c with -ksp_type preonly -pc_type fastpoisson.
*/

#include <petscvec.h>
#include <petscdevice_cuda.h>

#define MOST 101

/* Of the device, which has finished */
static PetscErrorCode Now(PetscLogDouble *seconds)
{
  PetscDeviceContext context;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextSynchronize(context));
  PetscCall(PetscTime(seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Median; the first copy does not count */
static PetscErrorCode TimeCopies(PetscInt points, PetscInt times, PetscReal *median)
{
  PetscReal      seconds[MOST];
  PetscLogDouble start, end;
  Vec            from, to;

  PetscFunctionBeginUser;
  PetscCall(VecCreate(PETSC_COMM_SELF, &from));
  PetscCall(VecSetSizes(from, points, points));
  PetscCall(VecSetType(from, VECSEQCUDA));
  PetscCall(VecDuplicate(from, &to));
  PetscCall(VecSet(from, 1));
  for (PetscInt i = -1; i < times; i++) {
    PetscCall(Now(&start));
    PetscCall(VecCopy(from, to));
    PetscCall(Now(&end));
    if (i >= 0) seconds[i] = (PetscReal)(end - start);
  }
  PetscCall(PetscSortReal(times, seconds));
  *median = seconds[times / 2];
  PetscCall(VecDestroy(&from));
  PetscCall(VecDestroy(&to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **args)
{
  PetscInt  n[3], dim = 3, points = 1, times = 20;
  PetscReal copy;
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &args, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCheck(times > 0 && times <= MOST, PETSC_COMM_SELF, PETSC_ERR_USER, "-times wants 1 to %d runs", MOST);
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &dim, &set));
  PetscCheck(set, PETSC_COMM_SELF, PETSC_ERR_USER, "-n wants two or three numbers of points");
  for (PetscInt d = 0; d < dim; d++) points *= n[d];
  PetscCheck(points > 0, PETSC_COMM_SELF, PETSC_ERR_USER, "-n wants positive numbers of points");
  PetscCall(TimeCopies(points, times, &copy));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "limit,%" PetscInt_FMT ",%.4e,%.4e\n", points, (double)copy,
                        2 * sizeof(PetscScalar) * (double)points / (double)copy));
  PetscCall(PetscFinalize());
  return 0;
}
