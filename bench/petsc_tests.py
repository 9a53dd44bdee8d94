#!/usr/bin/env python3
"""Gives -pc_type kcycle to PETSc's own test programs, unchanged, and compares with the run that their authors meant.

    python3 bench/petsc_tests.py                     tests of programs on a DMDA
    python3 bench/petsc_tests.py --kind mg           tests with -pc_type mg, kcycle in its place
    python3 bench/petsc_tests.py --kind any          all tests of solvers, an hour
    python3 bench/petsc_tests.py --only ex19,ex45    of these programs; --csv FILE writes every run

A test counts if its own run ends well: exit status 0, every solve that says so has converged, and -pc_type is used. Where
kcycle does not do as well, PCMG, PCGAMG and a direct solver are tried in its place: "not possible" is what none of them can do,
as when there is no matrix. Ends with status 1 if kcycle does worse than the test's own run on anything else.
"""

import argparse
import collections
import concurrent.futures
import glob
import itertools
import os
import re
import shlex
import subprocess
import sys
import tempfile

import programs
from launch import mpi_command, mpi_environment

CLASSES = ("ksp/ksp", "ksp/pc", "snes", "ts", "dm", "tao")
REASONS = ["-ksp_converged_reason", "-snes_converged_reason", "-options_left"]
LONGEST = 60  # seconds of one run

OTHERS = ("mg", "gamg", "lu", "redundant")

Test = collections.namedtuple("Test", "source name n args depends")
Run = collections.namedtuple("Run", "verdict iterations why")


def petsc_features(petsc):
    """The names that petscconf.h defines, in lower case, without PETSC_HAVE_ and PETSC_USE_."""
    text = ""
    for folder in (petsc["conf_dir"], os.path.join(petsc["conf_dir"], petsc["conf_arch"])):
        path = os.path.join(folder, "include", "petscconf.h")
        if os.path.exists(path):
            with open(path) as file:
                text += file.read()
    return {name.lower() for name in re.findall(r"#define PETSC_(?:HAVE_|USE_)?(\w+)", text)}


def can_run(requires, features):
    known = features | {"double", "real_double", "c"} | (set() if "complex" in features else {"real"})
    for word in requires.replace("defined(", " ").replace(")", " ").lower().split():
        wanted, name = not word.startswith("!"), word.lstrip("!")
        name = re.sub(r"^petsc_(have_|use_)?", "", name)
        if (name in known) != wanted:
            return False
    return True


def expand(args):
    """{{a b}}: each of the values; {{a b}separate output} too; -{snes,ksp}_view: both, as a shell has it."""
    args = re.sub(r"(\S*)(?<!\{)\{([^{}\s]*,[^{}\s]*)\}(?!\})(\S*)", lambda m: " ".join(m[1] + part + m[3] for part in m[2].split(",")), args)
    parts = re.split(r"\{\{(.*?)\}[^}]*\}", args)
    choices = [[part] if i % 2 == 0 else part.split() for i, part in enumerate(parts)]
    return ["".join(choice) for choice in itertools.product(*choices)]


def tests_of(path, parser, features):
    tests = parser.parseTestFile(path, 0)[os.path.basename(path)]
    for name, test in tests.items():
        if not isinstance(test, dict) or not can_run(f"{tests.get('requires', '')} {test.get('requires', '')}", features):
            continue
        if "SKIP" in test or "TODO" in test or "SKIP" in tests or "TODO" in tests or "command" in test:
            continue
        for part in test.get("subtests", [None]):
            part = test[part] if part else {}
            if not can_run(str(part.get("requires", "")), features) or "TODO" in part or "SKIP" in part:
                continue
            n = str(part.get("nsize", test.get("nsize", 1)))
            n = max(int(word) for word in re.findall(r"\d+", n))
            args = " ".join(str(a) if not isinstance(a, list) else " ".join(a) for a in (test.get("args", ""), part.get("args", "")))
            for i, words in enumerate(expand(args)):
                label = name[3:] + ("_" + part["suffix"] if "suffix" in part else "") + (f"+{i}" if i else "")
                yield Test(path, label, n, words, tuple(str(tests.get("depends", "")).split()))


def find_tests(petsc, kind, only):
    root = os.path.dirname(petsc["harness"])
    sys.path.insert(0, os.path.join(root, "config"))
    import testparse
    features = petsc_features(petsc)
    for folder in CLASSES:
        for path in sorted(glob.glob(os.path.join(root, "src", folder, "t*", "*.c")) + glob.glob(os.path.join(root, "src", folder, "tutorials", "*", "*.c"))):
            if only and os.path.basename(path)[:-2] not in only:
                continue
            with open(path, errors="replace") as file:
                text = file.read()
            if "/*TEST" not in text or not re.search(r"KSPSolve|SNESSolve|TSSolve|TaoSolve", text):
                continue
            if kind == "dmda" and "DMDACreate" not in text:
                continue
            for test in tests_of(path, testparse, features):
                if kind != "mg" or re.search(r"-pc_type\s+mg\b", test.args):
                    yield test


def command_of(test, program, library, pc):
    """PC: the preconditioner in the place of the test's own, or None: as it is."""
    args = shlex.split(test.args)
    if pc:
        drop = {i + k for i, word in enumerate(args) if word == "-pc_type" for k in (0, 1)}
        args = [word for i, word in enumerate(args) if i not in drop] + ["-dll_append", library, "-pc_type", pc]
    return mpi_command(test.n) + [program, *args, *REASONS]


def judge(status, output, asked):
    iterations = sum(int(n) for n in re.findall(r"^ *Linear.* iterations (\d+)", output, re.M))
    error = re.search(r"PETSC ERROR: (?!-)(.*)", output)
    failed = re.search(r"did not converge.*", output)
    if status == 124:
        return Run("too long", iterations, "")
    if status:
        return Run("error", iterations, error.group(1)[:160] if error else f"status {status}")
    if failed:
        return Run("diverged", iterations, failed.group(0)[:80])
    if asked and re.search(r"^ *Option left: name:-pc_type\b", output, re.M):
        return Run("unused", iterations, "")
    return Run("well" if "converged due to" in output else "silent", iterations, "")


def run(test, program, library, folder, pc):
    where = tempfile.mkdtemp(dir=folder)
    try:
        done = subprocess.run(command_of(test, program, library, pc), cwd=where, env=mpi_environment(), stdin=subprocess.DEVNULL, timeout=LONGEST,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, errors="replace")
        return judge(done.returncode, done.stdout, pc)
    except subprocess.TimeoutExpired:
        return judge(124, "", pc)


def compile_program(petsc, test, folder):
    program = os.path.join(folder, test.source.split("/src/")[1].replace("/", "-")[:-2])
    more = [os.path.join(os.path.dirname(test.source), name) for name in test.depends if name.endswith(".c")]
    if not os.path.exists(program):
        try:
            programs.build(petsc, test.source, program, more=more)
        except SystemExit:
            return None
    return program


def compare(petsc, test, folder):
    program = compile_program(petsc, test, folder)
    if not program:
        return test, Run("does not compile", 0, ""), None
    theirs = run(test, program, petsc["library"], folder, None)
    if theirs.verdict != "well":
        return test, theirs, None
    ours = run(test, program, petsc["library"], folder, "kcycle")
    if ours.verdict not in ("well", "unused") and all(run(test, program, petsc["library"], folder, pc).verdict != "well" for pc in OTHERS):
        ours = ours._replace(verdict="not possible", why=f"{ours.verdict}: {ours.why}")
    return test, theirs, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("dmda", "mg", "any"), default="dmda")
    parser.add_argument("--only", default="", help="names of programs, separated by commas")
    parser.add_argument("--csv")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    petsc = programs.petsc_at_hand()
    tests = list(find_tests(petsc, options.kind, set(filter(None, options.only.split(",")))))
    counts, rows = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda test: compile_program(petsc, test, folder), {test.source: test for test in tests}.values()))
        for test, theirs, ours in pool.map(lambda t: compare(petsc, t, folder), tests):
            if not ours or ours.verdict == "unused":
                continue
            counts[ours.verdict] += 1
            rows.append({"test": test.name, "n": test.n, "args": test.args, "theirs": theirs.iterations, "kcycle": ours.iterations, "verdict": ours.verdict, "why": ours.why})
            if ours.verdict != "well":
                print(f"{test.name} ({test.n}): {ours.verdict}: {ours.why}\n    {test.args}", flush=True)
    if options.csv:
        programs.write_csv(options.csv, rows)
    total = sum(counts.values())
    print(f"{total} tests, " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))
    return 0 if total and counts["well"] + counts["not possible"] == total else 1


if __name__ == "__main__":
    sys.exit(main())
