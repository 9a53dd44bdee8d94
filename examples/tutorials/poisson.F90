! - u_xx - u_yy = 1 in the unit square, u = 0 on its boundary; unknowns are the points inside, as in poisson.c:
!   ./poisson -dll_append /path/to/libpetsckcycle.so -ksp_type cg -pc_type kcycle -ksp_monitor
program poisson
#include <petsc/finclude/petscksp.h>
  use petscksp
  use petscdmda
  implicit none
  DM             :: da
  Mat            :: A
  Vec            :: x, b
  KSP            :: ksp
  PetscErrorCode :: ierr
  PetscInt       :: i, j, row, xs, ys, xm, ym, gxs, gys, gxm, gym, columns(5), n
  PetscInt, parameter :: points = 127, one = 1, five = 5
  PetscScalar    :: v(5)
  PetscReal      :: largest
  character(80)  :: line

  PetscCallA(PetscInitialize(ierr))
  call DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, points, points, &
                    PETSC_DECIDE, PETSC_DECIDE, one, one, PETSC_NULL_INTEGER, PETSC_NULL_INTEGER, da, ierr)
  CHKERRA(ierr)
  PetscCallA(DMSetFromOptions(da, ierr))
  PetscCallA(DMSetUp(da, ierr))
  PetscCallA(DMDAGetCorners(da, xs, ys, PETSC_NULL_INTEGER, xm, ym, PETSC_NULL_INTEGER, ierr))
  PetscCallA(DMDAGetGhostCorners(da, gxs, gys, PETSC_NULL_INTEGER, gxm, gym, PETSC_NULL_INTEGER, ierr))
  PetscCallA(DMCreateMatrix(da, A, ierr))
  PetscCallA(MatCreateVecs(A, x, b, ierr))
  v = [4.0, -1.0, -1.0, -1.0, -1.0]
  do j = ys, ys + ym - 1
    do i = xs, xs + xm - 1
      row = i - gxs + (j - gys) * gxm    ! numbers of points with the halo of this process; -1: left out
      columns = [row, merge(row - 1, -one, i > 0), merge(row + 1, -one, i < points - 1), &
                 merge(row - gxm, -one, j > 0), merge(row + gxm, -one, j < points - 1)]
      PetscCallA(MatSetValuesLocal(A, one, [row], five, columns, v, INSERT_VALUES, ierr))
    end do
  end do
  PetscCallA(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY, ierr))
  PetscCallA(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY, ierr))
  n = points + 1
  v(1) = 1.0 / real(n * n)
  PetscCallA(VecSet(b, v(1), ierr))
  PetscCallA(KSPCreate(PETSC_COMM_WORLD, ksp, ierr))
  PetscCallA(KSPSetOperators(ksp, A, A, ierr))
  PetscCallA(KSPSetFromOptions(ksp, ierr))
  PetscCallA(KSPSolve(ksp, b, x, ierr))
  PetscCallA(VecNorm(x, NORM_INFINITY, largest, ierr))
  write (line, '(a, f7.5, a)') 'u at the centre: ', largest, ' (0.07367 on fine grids)' // new_line('a')
  PetscCallA(PetscPrintf(PETSC_COMM_WORLD, trim(line), ierr))
  PetscCallA(KSPDestroy(ksp, ierr))
  PetscCallA(VecDestroy(x, ierr))
  PetscCallA(VecDestroy(b, ierr))
  PetscCallA(MatDestroy(A, ierr))
  PetscCallA(DMDestroy(da, ierr))
  PetscCallA(PetscFinalize(ierr))
end program poisson
