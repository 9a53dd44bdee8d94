"""What pip calls to install the Python module (PEP 517): builds the library for the PETSc of petsc4py, and a wheel
around it.

pip runs this in an environment without the installed packages; petsc4py is asked for outside of it.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "petsc_kcycle"
ASK = ("import petsc4py; c = petsc4py.get_config(); "
       "print(petsc4py.__version__, c['PETSC_DIR'], c['PETSC_ARCH'].split(':')[0], sep='\\n')")
NO_PETSC4PY = """petsc-kcycle needs petsc4py, whose PETSc it is built for, and {python} has none.
Install it first (Debian: python3-petsc4py, and a virtual environment with --system-site-packages; elsewhere: pip
install petsc petsc4py)."""


def read(*path):
    with open(os.path.join(TOP, *path), "rb") as file:
        return file.read()


def outer_environment():
    """Without what pip puts there to hide installed packages, and without variables that would choose another PETSc"""
    hidden = ("PYTHONPATH", "PYTHONNOUSERSITE", "PETSC_DIR", "PETSC_ARCH", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def petsc_of_petsc4py():
    """petsc4py's version, PETSC_DIR and PETSC_ARCH"""
    answer = subprocess.run([sys.executable, "-c", ASK], env=outer_environment(), stdout=subprocess.PIPE,
                            universal_newlines=True)
    if answer.returncode:
        sys.exit(NO_PETSC4PY.format(python=sys.executable))
    return (answer.stdout.split("\n") + [""] * 3)[:3]


def build_library(petsc_dir, petsc_arch):
    make = ["make", "-s", "--no-print-directory", "-C", TOP, f"PETSC_DIR={petsc_dir}", f"PETSC_ARCH={petsc_arch}"]
    for words in (["-j" + str(os.cpu_count()), "all"], ["print-library"]):
        answer = subprocess.run(make + words, env=outer_environment(), stdout=subprocess.PIPE, universal_newlines=True)
        if answer.returncode:
            sys.exit("petsc-kcycle does not build for the PETSc of petsc4py: "
                     f"PETSC_DIR={petsc_dir} PETSC_ARCH={petsc_arch}; see above")
    return answer.stdout.strip()


def metadata(version, petsc4py):
    release = re.match(r"\d+\.\d+", petsc4py)[0]
    return (f"Metadata-Version: 2.1\nName: {NAME.replace('_', '-')}\nVersion: {version}\n"
            "Summary: Multigrid preconditioners for PETSc: kappa-cycles on structured grids, deflation\n"
            f"License: BSD-2-Clause\nRequires-Python: >=3.7\nRequires-Dist: petsc4py =={release}.*\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    petsc4py, petsc_dir, petsc_arch = petsc_of_petsc4py()
    library = build_library(petsc_dir, petsc_arch)
    version = read("VERSION.txt").decode().strip()
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"{NAME}-{version}.dist-info"
    files = {f"{NAME}/__init__.py": read("python", NAME, "__init__.py"), f"{NAME}/VERSION.txt": read("VERSION.txt"),
             f"{NAME}/libpetsckcycle.so": read(library),
             f"{NAME}/include/petsckcycle.h": read("include", "petsckcycle.h"),
             f"{info}/METADATA": metadata(version, petsc4py), f"{info}/LICENSE": read("LICENSE"),
             f"{info}/WHEEL": ("Wheel-Version: 1.0\nGenerator: petsc-kcycle\nRoot-Is-Purelib: false\n"
                               f"Tag: {tag}\n").encode()}
    record = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
    files[f"{info}/RECORD"] = "\n".join(record + [f"{info}/RECORD,,", ""]).encode()
    wheel = f"{NAME}-{version}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel
