"""What the scripts of this folder share: the PETSc at hand, programs built with it, options, tables as CSV."""

import argparse
import csv
import glob
import os
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "conf"))
from launch import mpi_command, mpi_environment  # noqa: E402 (found in conf)


def petsc_at_hand():
    """The makefile's NAME=value lines as a dict, and "bench", a folder for results; make check has them in the
    environment"""
    petsc = {name[3:].lower(): value for name, value in os.environ.items() if name.startswith("KC_")}
    if "library" not in petsc:
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS")}
        answer = subprocess.run(["make", "-s", "--no-print-directory", "-C", TOP, "print-petsc"], env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True)
        petsc = dict(line.split("=", 1) for line in answer.stdout.splitlines() if "=" in line)
        if answer.returncode or not os.path.exists(petsc["library"]):
            sys.exit("bench: the library is not built: run make")
    petsc["bench"] = os.path.join(petsc["build"], "bench")
    os.makedirs(petsc["bench"], exist_ok=True)
    return petsc


def blas_lapack(petsc):
    """What PETSc was linked with, for programs that call it themselves"""
    path = os.path.join(petsc["conf_dir"], petsc["conf_arch"], "lib", "petsc", "conf", "petscvariables")
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [word for line in file if line.startswith("BLASLAPACK_LIB =") for word in line.split("=", 1)[1].split()]


def build(petsc, source, program, linked=(), more=()):
    """LINKED: libraries in addition to PETSc; MORE: other words of the command, as sources and flags."""
    package = os.path.join(petsc["libdir"], "pkgconfig", "PETSc.pc")

    def ask(*question):
        return shlex.split(subprocess.run(["pkg-config", *question, package], check=True, stdout=subprocess.PIPE,
                                          universal_newlines=True).stdout)

    command = ask("--variable=ccompiler") or ["mpicc"]
    command += ["-std=gnu99", "-O3", "-I" + os.path.join(TOP, "include"), *ask("--cflags"), "-o", program,
                os.path.join(TOP, source), *more, *linked,
                *("-Wl,-rpath," + os.path.dirname(library) for library in linked),
                *ask("--libs"), "-Wl,-rpath," + petsc["libdir"], *blas_lapack(petsc), "-lm"]
    if subprocess.run(command).returncode:
        sys.exit(f"bench: {source} does not compile")


def build_once(petsc, source, program, linked=(), more=()):
    """Unless it is there, and newer than its source and headers. Others may be running it"""
    headers = glob.glob(os.path.join(TOP, "bench", "*.h")) + glob.glob(os.path.join(TOP, "tests", "*.h"))
    newest = max(os.path.getmtime(path) for path in (os.path.join(TOP, source), *headers, *linked))
    if not os.path.exists(program) or os.path.getmtime(program) < newest:
        build(petsc, source, f"{program}-{os.getpid()}", linked, more)
        os.replace(f"{program}-{os.getpid()}", program)


def surroundings(user_options=False):
    """The environment of a program. The user's own options of PETSc must not change what is compared"""
    environment = mpi_environment({k: v for k, v in os.environ.items() if user_options
                                   or not k.startswith("PETSC_OPTIONS")})
    environment.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    environment.setdefault("OMPI_MCA_ess_singleton_isolated", "1")  # one process alone starts faster
    return environment


def limit_memory(processes):
    """A solver that wants more than there is gets an error and is not the end of the machine"""
    if not processes:
        return
    share = int(0.85 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / processes)
    resource.setrlimit(resource.RLIMIT_DATA, (share, share))


class Ended:
    """What a program has said, and how it ended"""

    def __init__(self, text, status, expired, seconds):
        self.text, self.status, self.expired, self.seconds = text, status, expired, seconds

    def lines(self, word):
        """Of those that begin with the word and a comma, what follows"""
        return [line.split(",")[1:] for line in self.text.splitlines() if line.startswith(word + ",")]

    def error(self):
        """What PETSc says of it, else the last line"""
        errors = [line.split("PETSC ERROR: ", 1)[1].strip() for line in self.text.splitlines()
                  if "PETSC ERROR: " in line and "-----" not in line]
        last = [line for line in self.text.splitlines() if line.strip()][-1:]
        return errors[1] if len(errors) > 1 else errors[0] if errors else last[0].strip() if last else ""


def stop(process):
    """With all that it has started; mpiexec passes the first signal on, and could not pass on the other"""
    for number, patience in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def start(command, limit, environment, processes=1, renew=None):
    """Runs a program, at most so many seconds, with the memory of the machine for so many processes; 0: with no bound,
    as devices reserve more than there is.
    RENEW: a line that begins so gives it as many seconds again"""
    began, expired = time.monotonic(), threading.Event()

    def expire():
        expired.set()
        stop(process)

    def timer():
        made = threading.Timer(limit, expire)
        made.daemon = True
        made.start()
        return made

    try:
        process = subprocess.Popen(command, env=environment, start_new_session=True,
                                   preexec_fn=lambda: limit_memory(processes), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                                   errors="replace")
    except OSError as error:
        return Ended(f"{command[0]}: {error.strerror}", 127, False, 0)
    lines, alarm = [], timer()
    try:
        for line in process.stdout:
            lines.append(line)
            if renew and line.startswith(renew):
                alarm.cancel()
                alarm = timer()
        status = process.wait()
    except KeyboardInterrupt:
        stop(process)
        raise
    finally:
        alarm.cancel()
    return Ended("".join(lines), status, expired.is_set(), time.monotonic() - began)


class Program:
    """A program of ours; LINKED: with the library, which others load"""

    def __init__(self, petsc, source, linked=False, more=()):
        self.petsc, self.environment = petsc, surroundings()
        self.path = os.path.join(petsc["bench"], os.path.basename(source)[:-2])
        build_once(petsc, source, self.path, [petsc["library"]] if linked else [], more)
        self.start = [self.path, "-skip_petscrc"] + ([] if linked else ["-dll_append", petsc["library"]])

    def run(self, words, procs=1, limit=3600, bound=True, **variables):
        """BOUND: with the memory of the machine; VARIABLES: of the environment"""
        command = (mpi_command(procs, self.petsc["mpiexec"]) if procs > 1
                   else []) + self.start + [str(word) for word in words]
        return start(command, limit, {**self.environment, **variables}, procs if bound else 0)

    def lines(self, words, procs=1):
        """Of a run that must end well, as lists of words"""
        ended = self.run(words, procs)
        if ended.status or ended.expired:
            sys.exit(f"{os.path.basename(self.path)} {shlex.join(map(str, words))}: status {ended.status}: "
                     f"{ended.error()}\n{ended.text[-2000:]}")
        return [line.split(",") for line in ended.text.splitlines()]


def several(kind):
    """For options with lists"""
    return lambda text: [kind(word) for word in text.split(",")]


def options(doc, **more):
    """A parser; MORE: help for --quick and --publish, a number for --repeat, names for --parts, groups for --cases and
    --group; those that are wanted"""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if "quick" in more:
        parser.add_argument("--quick", action="store_true", help=more["quick"])
    if "parts" in more:
        parser.add_argument("--parts", type=several(str), default=list(more["parts"]),
                            help="default all: " + ",".join(more["parts"]))
    if "publish" in more:
        parser.add_argument("--publish", action="store_true",
                            help=more["publish"] or "also writes what the documentation quotes, in bench/results")
    if "cases" in more:
        parser.add_argument("--cases", type=several(str), default=["*"], help="names, with * and ?")
        parser.add_argument("--group", type=several(str), default=[], help="of " + ",".join(more["cases"]))
    if "repeat" in more:
        parser.add_argument("--repeat", type=int, default=more["repeat"], help=f"runs; default {more['repeat']}")
    return parser


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


def read_csv(path):
    """Nothing where there is no file"""
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def save(petsc, name, rows, published, key=None):
    """In the folder of the build, and if PUBLISHED in the repository, where conf/docs.py looks for the figures of the
    documentation. With a KEY lines of other keys stay there"""
    write_csv(os.path.join(petsc["bench"], name), rows)
    if published:
        path = os.path.join(TOP, "bench", "results", name)
        new = {row[key] for row in rows} if key else set()
        write_csv(path, ([row for row in read_csv(path) if row[key] not in new] if key else []) + rows)
