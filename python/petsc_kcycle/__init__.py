"""Registers the types of petsc-kcycle in petsc4py:

    from petsc4py import PETSc
    import petsc_kcycle
    ksp.getPC().setType("kcycle")

The library is the one installed with this module, or the one that the environment variable KCYCLE_LIB names.
"""

import ctypes
import os

from petsc4py import PETSc  # noqa: F401 (initializes PETSc, if that has not happened yet)


def _find(name, *folders):
    """The first path to NAME that exists, else None."""
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.join(here, folder, name) for folder in folders]
    return next((path for path in paths if os.path.exists(path)), None)


def _register():
    path = os.environ.get("KCYCLE_LIB") or _find("libpetsckcycle.so", ".")
    if path is None:
        raise ImportError("petsc_kcycle: no libpetsckcycle.so next to " + __file__ + "; set KCYCLE_LIB to its path")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError("petsc_kcycle: " + str(error)) from error
    code = library.KCycleInitializePackage()
    if code:
        raise ImportError(f"petsc_kcycle: {path} cannot be used with this petsc4py (PETSc error {code}, see above)")


_register()
with open(_find("VERSION.txt", ".", "../..")) as _version:
    __version__ = _version.read().strip()
