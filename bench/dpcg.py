#!/usr/bin/python3
"""Deflated CG: the numbers of Gupta's thesis and ours, and tables of our own with coefficients that jump.

    python3 bench/dpcg.py                          all parts
    python3 bench/dpcg.py --quick                  small grids
    python3 bench/dpcg.py --parts contrast,ip      some of them

Runs examples/tutorials/bubbles.c; make the library first. CSV files and a picture go to the folder bench of the build.
Ends with status 1 if a run failed that should not.
"""

import collections
import os
import re
import shlex
import sys

import pictures
import programs
from programs import choose, petsc_at_hand, save

INNER = {"jacobi": "Jacobi", "blockic": "Block-IC", "ip": "IP", "kcycle": "kcycle"}
SPACES = {"none": "none", "stripe": "stripes", "box": "boxes", "interface": "interface boxes"}

# The thesis, figures 74 to 76: cells each way, a tolerance that fits them (none is given there), numbers of blocks, and
# for each number of stripes the iterations
FIGURES = (
    (74, 128, "1.6e-6", (64, 32, 16), {256: (68, 58, 54), 512: (53, 46, 42), 1024: (34, 30, 27)}),
    (75, 256, "2e-5", (128, 64, 32), {512: (49, 44, 40), 1024: (44, 43, 36), 2048: (38, 35, 31)}),
    (76, 512, "4e-5", (256, 128, 64), {1024: (43, 38, 34), 2048: (43, 38, 34)}),
)
# Figures 77 to 79, with the most blocks: stripes, iterations, error of the solution; NC: stopped after 1000
TWO_PHASE = (
    (77, 128, 64, ((256, "3", "1.18"), (512, "3", "1.00"), (1024, "4", "0.91"))),
    (78, 256, 128, ((512, "4", "0.41"), (1024, "NC", "153"), (2048, "NC", "2e6"))),
    (79, 512, 256, ((1024, "4", "0.36"), (2048, "NC", "2.7e3"), (4096, "NC", "3e7"))),
)
# Iterations of the deterministic case that an independent program has found
DETERMINISTIC = {"blockic": (158, 98, 109, 46, 27), "jacobi": (317, 195, 216, 82, 38), "ip": (163, 101, 111, 44, 22)}
DETERMINISTIC_SPACES = (("none", ""), ("stripe", "256"), ("stripe", "128"), ("box", "8,8"), ("box", "16,16"))

Result = collections.namedtuple("Result", "reason iterations residual error energy setup solve text")
FAILED = Result("failed", 0, 0, 0, 0, 0, 0, "")


class Program(programs.Program):
    """The tutorial"""

    def __init__(self, petsc, limit, repeat):
        super().__init__(petsc, "examples/tutorials/bubbles.c", True)
        self.log, self.limit, self.repeat = os.path.join(petsc["bench"], "dpcg.log"), limit, repeat
        open(self.log, "w").close()

    def solve(self, options):
        ended = self.run(["-times", *shlex.split(options)], 1, self.limit)
        text = f"stopped after {self.limit} s" if ended.expired else ended.text
        with open(self.log, "a") as log:
            log.write(f"{options}\n{text[:20000]}\n")
        solved = re.search(r"(\w+) after (\d+) iterations, residual (\S+?)(?:, error (\S+), its energy norm (\S+))?\n",
                           text)
        times = re.search(r"set-up (\S+) s, solve (\S+) s", text)
        if not solved or not times:
            return FAILED
        numbers = [float(word) if word else -1 for word in solved.groups()[2:]]
        return Result(solved[1], int(solved[2]), *numbers, float(times[1]), float(times[2]), text)

    def independent(self):
        """What a test prints: for each problem a line of iterations, then a claim."""
        test = programs.Program(self.petsc, "tests/deflsub.c", True)
        ended = test.run(["-test", "independent", "-show", "-deflsub_sub_pc_type", "icc"], 1, self.limit)
        return "" if ended.status else ended.text

    def fastest(self, options):
        """Of some runs."""
        return min((self.solve(options) for _ in range(self.repeat)), key=lambda result: result.setup + result.solve)


def inner(name, blocks, prefix=""):
    """The options of a preconditioner."""
    if name == "blockic":
        return f"-{prefix}pc_type bjacobi -{prefix}pc_bjacobi_blocks {blocks} -{prefix}sub_pc_type icc"
    return f"-{prefix}pc_type " + {"jacobi": "jacobi", "ip": "incpoisson", "kcycle": "kcycle"}[name]


def solver(space, boxes, name, blocks):
    if space == "none":
        return inner(name, blocks)
    return f"-pc_type deflsub -pc_deflsub_type {space} -pc_deflsub_boxes {boxes} " + inner(name, blocks, "deflsub_")


def count(result):
    """Iterations, as words for a table."""
    if result.reason.startswith("CONVERGED"):
        return str(result.iterations)
    return "failed" if result.reason == "failed" else "NC"


def row(words, first=22, width=11):
    print("  " + f"{words[0]:<{first}}" + "".join(f"{word:>{width}}" for word in words[1:]), flush=True)


def part_poisson(program, quick):
    """Figures 74 to 76: random solution and start."""
    rows = []
    for figure, n, tolerance, blocks, table in FIGURES[:1 if quick else None]:
        print(f"\nFigure {figure}, {n}^2, Block-IC, stripes, tolerance {tolerance}: iterations of the thesis / ours")
        row(["stripes"] + [f"{b} blocks" for b in blocks])
        for stripes, theirs in table.items():
            cells = []
            for b, iterations in zip(blocks, theirs):
                result = program.solve(f"-n {n} -contrast 1 -wall dirichlet -rhs random -start -ksp_rtol {tolerance} "
                                       + solver("stripe", stripes, "blockic", b))
                cells.append(f"{iterations} / {count(result)}")
                rows.append({"figure": figure, "n": n, "stripes": stripes, "blocks": b, "thesis": iterations,
                             "ours": count(result), "error": result.error})
            row([str(stripes)] + cells)
    return rows


def part_ip(program, quick):
    """Figures 38, 40, 42 are bar charts: counts of IP a little above those of Block-IC with the most blocks. One number
    is in the text (section 9.1)."""
    rows = []
    print("\nFigures 38, 40, 42, the same tolerances: iterations of Block-IC with the most blocks and of IP (the "
          "thesis' text has 49 for IP, 512^2, 4096 stripes)")
    row(["", "Block-IC", "thesis", "IP", "IP, full"])
    for figure, n, tolerance, blocks, table in FIGURES[:1 if quick else None]:
        for stripes in list(table) + ([4096] if n == 512 else []):
            options = f"-n {n} -contrast 1 -wall dirichlet -rhs random -start -ksp_rtol {tolerance} "
            ic = program.solve(options + solver("stripe", stripes, "blockic", blocks[0]))
            ip = program.solve(options + solver("stripe", stripes, "ip", 0))
            full = program.solve(options + solver("stripe", stripes, "ip", 0) + " -deflsub_pc_incpoisson_pattern full")
            theirs = table[stripes][0] if stripes in table else "-"
            row([f"{n}^2, {stripes} stripes", count(ic), str(theirs), count(ip), count(full)])
            rows.append({"n": n, "stripes": stripes, "blockic": count(ic), "thesis": theirs, "ip": count(ip),
                         "ip_full": count(full)})
    return rows


def part_twophase(program, quick):
    """Figures 77 to 79: layer of 10:1, A(N,N) = 2, tolerance 1e-2."""
    rows = []
    print("\nFigures 77 to 79, layer 10:1, tolerance 1e-2: iterations and error of the solution, thesis / ours, and "
          "ours with 1e-10")
    row(["", "iterations", "error", "at 1e-10", "error"], first=30, width=14)
    for figure, n, blocks, lines in TWO_PHASE[:1 if quick else None]:
        for stripes, iterations, error in lines:
            options = (f"-n {n} -shape layer -mean face -height {(n / 2 - 0.5) / n} -wall pinned -contrast 10 -rhs "
                       "random -start ")
            loose = program.solve(options + "-ksp_rtol 1e-2 " + solver("stripe", stripes, "blockic", blocks))
            tight = program.solve(options + "-ksp_rtol 1e-10 " + solver("stripe", stripes, "blockic", blocks))
            row([f"{n}^2, {stripes} stripes", f"{iterations} / {count(loose)}", f"{error} / {loose.error:.2g}",
                 count(tight), f"{tight.error:.1e}"], first=30, width=14)
            rows.append({"figure": figure, "n": n, "stripes": stripes, "thesis": iterations, "thesis_error": error,
                         "ours": count(loose), "error": loose.error,
                         "ours_tight": count(tight), "error_tight": tight.error})
    print("  The start has an error as large as the solution, and so has the answer at 1e-2: such counts say nothing "
          "about a method.")
    return rows


def events(text):
    """Calls and flops of each event of -log_view."""
    found = re.findall(r"^(\w+) +(\d+) \d\.\d \S+ +\S+ (\S+)", text, re.M)
    return {name: (int(calls), float(flops)) for name, calls, flops in found}


def part_operations(program, quick):
    """Table 1: operations of each kernel, in N of the thesis and as PETSc counts them here."""
    n, d = (64, 128) if quick else (512, 4096)
    unknowns = n * n
    options = f"-n {n} -contrast 1 -wall dirichlet -ksp_rtol 1e-6 -log_view "
    deflated = events(program.solve(options + solver("stripe", d, "jacobi", 0)).text)
    ip = events(program.solve(options + inner("ip", 0)).text)
    ic = program.solve(options + inner("blockic", n // 2))
    blocks = events(ic.text).get("MatSolve", (1, 0))
    lines = (
        ("A x", "9", deflated.get("MatMult")),
        ("Z^T x", "1", deflated.get("PCDeflSubZT")),
        (f"E^-1 b, dense d^2, d = {d}", f"{d * d / unknowns:.0f}", deflated.get("PCDeflSubSolveE")),
        ("A Z a; A Z^T x; Z a", "9; 5; -", deflated.get("PCDeflSubCorrect")),
        ("IP", "9", ip.get("MatMult")),
        ("Block-IC", "3 + 1 + 3", (ic.iterations + 1, blocks[1])),
        ("dot product", "2", ip.get("VecTDot")),
        ("axpy", "2", ip.get("VecAXPY")),
    )
    rows = []
    print(f"\nTable 1, {n}^2 = N, stripes: operations in a call, in N; thesis and ours")
    row(["kernel", "thesis", "ours"], first=34)
    for name, theirs, event in lines:
        ours = f"{event[1] / event[0] / unknowns:.2f}" if event else "-"
        row([name, theirs, ours], first=34)
        rows.append({"kernel": name, "n": n, "stripes": d, "thesis": theirs, "ours": ours})
    print("  Corrections are counted together, a third of the calls each; A Z is stored where it is not zero. E is "
          "factored sparsely here.")
    return rows


def part_deterministic(program, quick):
    """A case without random numbers: an independent program's iterations and ours."""
    rows = []
    print("\nSmooth solution, 128^2, 4 and -1, from zero, 1e-6: iterations of an independent program / ours")
    row([""] + [f"{space} {boxes}" for space, boxes in DETERMINISTIC_SPACES], width=14)
    for name, expected in DETERMINISTIC.items():
        cells = []
        for (space, boxes), theirs in zip(DETERMINISTIC_SPACES, expected):
            result = program.solve("-n 128 -contrast 1 -wall dirichlet -ksp_rtol 1e-6 "
                                   + solver(space, boxes, name, 64))
            cells.append(f"{theirs} / {count(result)}")
            rows.append({"inner": name, "space": space, "boxes": boxes, "reference": theirs, "ours": count(result)})
        row([INNER[name]] + cells, width=14)
    return rows


def measured(case, name, space, contrast, result):
    return {"case": case, "inner": name, "space": space, "contrast": contrast, "reason": result.reason,
            "iterations": result.iterations, "setup_s": result.setup,
            "solve_s": result.solve, "residual": result.residual, "error": result.error, "energy": result.energy}


def part_contrast(program, quick):
    """Nine discs, no flux: contrast by space by inner preconditioner."""
    n, rows = 64 if quick else 128, []
    for wall in ("neumann", "dirichlet"):
        for name in INNER:
            print(f"\nNine discs, {n}^2, wall {wall}, 1e-10, {INNER[name]}: iterations, seconds of set-up + solve, "
                  "error of the solution")
            row(["contrast"] + [SPACES[space] for space in SPACES], first=10, width=27)
            for contrast in ("1", "1e1", "1e2", "1e3", "1e4", "1e5", "1e6"):
                cells = []
                for space in SPACES:
                    result = program.fastest(f"-n {n} -contrast {contrast} -wall {wall} "
                                             + solver(space, "64" if space == "stripe" else "8,8", name, 64))
                    cells.append(f"{count(result)}, {result.setup:.3f}+{result.solve:.3f}, {result.error:.0e}")
                    rows.append(measured(wall, name, space, contrast, result))
                row([contrast] + cells, first=10, width=27)
    return rows


def part_independent(program, quick):
    """Nine discs: does the number of iterations depend on the contrast?"""
    contrasts, rows = ("1", "2", "5", "10", "100", "1e3", "1e6"), []
    print("\nNine discs, 128^2, Block-IC, boxes along interfaces: iterations until the energy norm of the error has "
          "fallen by 1e-8")
    row(["contrast", *contrasts, "largest / smallest"])
    lines = program.independent().splitlines()
    for counts, claim in zip(lines[::2], lines[1::2]):
        case = claim.split(":")[0].replace(" subdomains", "").replace("closed", "no flux")
        counts = counts.split()
        cells = ["-"] * (len(contrasts) - len(counts)) + counts
        cells.append(f"{max(map(int, counts)) / min(map(int, counts)):.2f}")
        row([case, *cells])
        rows.append(dict(zip(("case", *contrasts, "largest / smallest"), (case, *cells))))
    return rows or [{"case": "failed"}]


PARTS = {"poisson": part_poisson, "ip": part_ip, "twophase": part_twophase, "operations": part_operations,
         "deterministic": part_deterministic,
         "contrast": part_contrast, "independent": part_independent}


def panels(rows):
    """Iterations over the contrast: a panel for each inner preconditioner, a line for each space"""
    for name, title in INNER.items():
        own = [r for r in rows if r["case"] == "neumann" and r["inner"] == name and r["reason"].startswith("CONVERGED")]
        yield title, "contrast", "iterations", "xy", [(words,
                                                       [float(r["contrast"]) for r in own if r["space"] == space],
                                                       [r["iterations"] for r in own if r["space"] == space])
                                                      for space, words in SPACES.items()]


def main():
    parser = programs.options(__doc__, quick="small grids", parts=PARTS, publish="", repeat=3)
    parser.add_argument("--limit", type=int, default=600, help="seconds for a run, default 600")
    arguments = parser.parse_args()
    choose(arguments.parts, list(PARTS), "part")
    petsc, failed = petsc_at_hand(), 0
    program = Program(petsc, arguments.limit, arguments.repeat)
    print(f"PETSc {petsc['version']}, one process")
    for name in arguments.parts:
        rows = PARTS[name](program, arguments.quick)
        save(petsc, f"dpcg-{name}.csv", rows, arguments.publish)
        if name == "contrast":
            pictures.draw(os.path.join(petsc["bench"], "dpcg.png"), list(panels(rows)), 4, (3.4, 3.2))
        failed += sum("failed" in map(str, result.values()) for result in rows)
    print(f"\nNC: not converged. CSV files, picture and the program's output: {os.path.relpath(petsc['bench'])}")
    if failed:
        sys.exit(f"dpcg: {failed} runs failed: see {os.path.relpath(program.log)}")


if __name__ == "__main__":
    main()
