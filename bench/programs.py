"""What the scripts of this folder share: the PETSc at hand, programs built with it, tables as CSV."""

import csv
import os
import shlex
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "conf"))


def petsc_at_hand():
    """The makefile's NAME=value lines as a dictionary."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
    answer = subprocess.run(["make", "-s", "--no-print-directory", "-C", TOP, "print-petsc"], env=environment,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True)
    petsc = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
    if answer.returncode or not os.path.exists(petsc["library"]):
        sys.exit("bench: the library is not built: run make")
    return petsc


def blas_lapack(petsc):
    """What PETSc was linked with, for programs that call it themselves"""
    path = os.path.join(petsc["conf_dir"], petsc["conf_arch"], "lib", "petsc", "conf", "petscvariables")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [word for line in file if line.startswith("BLASLAPACK_LIB =") for word in line.split("=", 1)[1].split()]


def build(petsc, source, program, linked=(), more=()):
    """LINKED: libraries that the program is linked with beside PETSc; MORE: other words of the command, as sources and flags."""
    package = os.path.join(petsc["libdir"], "pkgconfig", "PETSc.pc")

    def ask(*question):
        return shlex.split(subprocess.run(["pkg-config", *question, package], check=True, stdout=subprocess.PIPE,
                                          universal_newlines=True).stdout)

    command = ask("--variable=ccompiler") or ["mpicc"]
    command += ["-std=gnu99", "-O3", "-I" + os.path.join(TOP, "include"), *ask("--cflags"), "-o", program,
                os.path.join(TOP, source), *more, *linked, *("-Wl,-rpath," + os.path.dirname(library) for library in linked),
                *ask("--libs"), "-Wl,-rpath," + petsc["libdir"], *blas_lapack(petsc), "-lm"]
    if subprocess.run(command).returncode:
        sys.exit(f"bench: {source} does not compile")


def build_once(petsc, source, program, more=()):
    """Unless it is there, and newer than its source. Others may be running it"""
    if not os.path.exists(program) or os.path.getmtime(program) < os.path.getmtime(os.path.join(TOP, source)):
        build(petsc, source, f"{program}-{os.getpid()}", more=more)
        os.replace(f"{program}-{os.getpid()}", program)


def choose(names, known, what):
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"bench: no {what} is called {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def write_csv(path, rows):
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def publish(name, rows):
    """In the repository: conf/docs.py looks there for the figures of the documentation"""
    folder = os.path.join(TOP, "bench", "results")
    os.makedirs(folder, exist_ok=True)
    write_csv(os.path.join(folder, name), rows)
