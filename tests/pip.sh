#!/bin/sh
# pip install . in a fresh virtual environment, after which import petsc_kcycle is all that a Python program needs.
# Run by: make check SEARCH=pip
set -u
. "$KC_TOP/conf/tap.sh"
unset PETSC_DIR PETSC_ARCH KCYCLE_LIB PYTHONPATH
export PYTHONDONTWRITEBYTECODE=1 PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 HOME="$KC_WORK"

cat > solve.py <<'END_OF_PROGRAM'
from petsc4py import PETSc
import petsc_kcycle
grid = PETSc.DMDA().create([33, 33], stencil_width=1)
A = grid.createMat()
here, there = PETSc.Mat.Stencil(), PETSc.Mat.Stencil()
(x0, x1), (y0, y1) = grid.getRanges()
for j in range(y0, y1):
    for i in range(x0, x1):
        here.index = (i, j)
        A.setValueStencil(here, here, 4)
        for x, y in (i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1):
            if 0 <= x < 33 and 0 <= y < 33:
                there.index = (x, y)
                A.setValueStencil(here, there, -1)
A.assemble()
u, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setType("cg")
ksp.setTolerances(rtol=1e-8)
ksp.getPC().setType("kcycle")
ksp.solve(b, u)
b.axpy(-1, A * u)
assert b.norm() < 1e-6 * 33, b.norm()
many = "few" if ksp.its < 10 else "MANY"
PETSc.Sys.Print(f"{petsc_kcycle.__file__} {petsc_kcycle.__version__}: {ksp.getPC().getType()}, {many} iterations")
END_OF_PROGRAM

python=$(find_petsc4py)
if [ -z "$python" ]; then skip 'pip install .' 'no petsc4py for this PETSc'; exit; fi
"$python" -m venv --system-site-packages venv > "$log" 2>&1 || { skip 'pip install .' 'python3 -m venv fails'; exit; }
works 'pip install .' 'Successfully installed petsc-kcycle' venv/bin/python3 -m pip install "$KC_TOP"
for n in 1 2; do works "import petsc_kcycle is all that a program needs, n=$n" \
  "/venv/.* $(cat "$KC_TOP/VERSION.txt"): kcycle, few" mpi $n venv/bin/python3 solve.py; done
works 'the header is there' '^/.*/venv/.*petsckcycle.h' sh \
  -c 'ls "$PWD"/venv/lib/python3*/site-packages/petsc_kcycle/include/petsckcycle.h'
works 'pip uninstall' 'Successfully uninstalled' venv/bin/python3 -m pip uninstall -y petsc-kcycle
refuses 'and it is gone' 'No module named' venv/bin/python3 -c 'import petsc_kcycle'
"$python" -m venv bare > "$log" 2>&1
refuses 'without petsc4py pip says what to install' 'petsc-kcycle needs petsc4py, whose PETSc it is built for' \
  bare/bin/python3 -m pip install "$KC_TOP"
