"""How programs are started with MPI, for every script of this project.

    command = mpi_command(2, mpiexec) + [program, ...]
    subprocess.run(command, env=mpi_environment())
"""

import functools
import os
import shlex
import subprocess


@functools.lru_cache(maxsize=None)
def is_open_mpi(mpiexec):
    """True if MPIEXEC is Open MPI's; False also where it cannot be started at all."""
    try:
        answer = subprocess.run(shlex.split(mpiexec) + ["--version"], env=mpi_environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    except OSError:
        return False
    return any(name in answer.stdout for name in ("Open MPI", "OpenRTE", "OpenMPI"))


def mpi_command(n, mpiexec="mpiexec"):
    """The words before the program's name that start it on N processes."""
    command = shlex.split(mpiexec)
    if is_open_mpi(mpiexec):
        # More processes than cores are fine here. Unbound, because Open MPI would bind every small job of a shared
        # machine to the same first cores.
        for option in (["--oversubscribe"], ["--bind-to", "none"]):
            if option[0] not in command:
                command += option
    return command + ["-n", str(n)]


def mpi_environment(base=None):
    """A copy of the environment (or of BASE) in which MPI programs run: one thread a process, root allowed."""
    environment = dict(os.environ if base is None else base)
    environment["OMP_NUM_THREADS"] = "1"
    if os.geteuid() == 0:
        environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1"
        environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    return environment
