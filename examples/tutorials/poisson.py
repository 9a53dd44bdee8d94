"""- u_xx - u_yy = 1 in the unit square, u = 0 on its boundary; unknowns are the points inside, as in poisson.c:

    python3 poisson.py -ksp_type cg -pc_type kcycle -ksp_monitor
    mpiexec -n 2 python3 poisson.py -da_grid_x 255 -da_grid_y 255 -dm_mat_type stencil
"""

import sys

import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402 (the command line comes first)
import petsc_kcycle  # noqa: E402, F401 (registers the types)

da = PETSc.DMDA().create([127, 127], stencil_width=1, setup=False)
da.setFromOptions()
da.setUp()
nx, ny = da.getSizes()
(first_x, last_x), (first_y, last_y) = da.getRanges()
A = da.createMat()
here, there = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
for j in range(first_y, last_y):
    for i in range(first_x, last_x):
        here.index = (i, j)
        A.setValueStencil(here, here, 4)
        for x, y in (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1):
            if 0 <= x < nx and 0 <= y < ny:
                there.index = (x, y)
                A.setValueStencil(here, there, -1)
A.assemble()

u, b = A.createVecs()
b.set(1 / ((nx + 1) * (ny + 1)))
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.getPC().setType("kcycle")
ksp.setFromOptions()
ksp.solve(b, u)
PETSc.Sys.Print(f"u at the centre: {u.max()[1]:.5f} (0.07367 on fine grids)")
