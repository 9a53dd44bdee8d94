#!/usr/bin/python3
"""The tables of README and docs that compare solvers, by what make compare measures: CSV files in the folder bench of
the build.

    make bench                                           all parts but demo, one process of this machine: two hours
    make bench BENCH="--parts solvers --publish"         some, and their files in bench/results, which the documentation
                                                         quotes
    make bench BENCH=--quick                             on small grids
    make bench BENCH="--parts choosing --only 3d-balls-1e3"    some lines of a table; the others stay
    make demo                                            --parts demo

    solvers      solvers.csv, and by families ratios.csv: all solvers on four problems
    kernels      kernels.csv: sweep, residual with restriction, interpolation, as parts of the bandwidth of a triad
    nodm         nodm.csv: what it costs to have no DM; both ways in turn, all processes on one core
    systems      systems.csv: several unknowns at a point, in PETSc's own programs and examples/tutorials/elasticity.c
    fastpoisson  fastpoisson.csv: with FFTW called by hand, products of matrices, and kcycle
    choosing     choosing.csv: a case of the battery for each kind of problem, and from which size on kcycle takes less
                 time than others
    demo         PETSc's tutorials as they are shipped, on one process and two, and a picture

Seconds are of a processor. Make the library first. Status 1: a run of ours has failed.
"""

import fnmatch
import os
import statistics
import sys

import compare
import pictures
import poisson
import programs
import solvers
from solvers import Solver

PARTS = ("solvers", "kernels", "nodm", "systems", "fastpoisson", "choosing", "demo")

# Name, title, options of bench/battery.c; --quick takes a quarter of the points each way
PROBLEMS = (
    ("3d-constant", "3D, constant, 129^3", "-cells 129,129,129 -ends ss,ss,ss"),
    ("2d-constant", "2D, constant, 1025^2", "-cells 1025,1025 -ends ss,ss"),
    ("3d-smooth", "3D, smooth coefficient, 1000:1, 129^3",
     "-cells 129,129,129 -ends ss,ss,ss -sd 1.5 -length 43,43,43"),
    ("3d-balls", "3D, Neumann, 27 balls of 1000:1, 128^3", "-cells 128,128,128 -ends nn,nn,nn -region balls:3:0.35"),
)
FAMILIES = ("PCMG", "PFMG", "BoomerAMG", "PCGAMG")

# What docs/choosing.md has a line for, in its order
KINDS = {
    "2d-dirichlet": "constant, 2D",
    "3d-dirichlet": "constant, 3D",
    "3d-neumann": "constant, insulated (singular)",
    "3d-27-points": "constant, 27 points",
    "1d-dirichlet": "constant, 1D",
    "3d-smooth": "smooth coefficient",
    "3d-balls-1e3": "27 balls, 1000 : 1",
    "3d-mixed-30-1e6": "3 of 10 cells are 1e6 times as stiff, 3D",
    "3d-weak-z-0.01": "one direction weak",
    "3d-1.1-walls": "stretched towards all walls",
    "3d-stretched-checker": "checkerboard on a stretched grid",
    "known-spe10-channels": "reservoir with channels",
    "known-pore-space": "pores between inactive spheres",
    "known-segmentation": "segmentation of a picture",
    "3d-angle-30-20-2": "convection at an angle",
    "2d-eddy-100": "an eddy, strong convection",
}
TOLERANCES = {"1d-dirichlet": 1e-6}  # where rounding does not let b - A x become 1e-8 of b, whoever solves
CHOICES = ("kcycle", "fastpoisson", "BoomerAMG", "PFMG", "PCMG", "PCGAMG", "one level")

# Rows of nodm.csv: processes, DMDA's options, how it is forgotten, more options
LAYOUTS = {
    "one process": (1, "", "dm", ""),
    "whole planes": (2, "-da_processors_x 1 {y}", "dm", ""),
    "planes cut": (2, "-da_processors_x 1 {y}", "rows", ""),
    "numbered as by a DMDA": (2, "-da_processors_x 2", "dm", ""),
    "planes cut, GMRES": (2, "-da_processors_x 1 {y}", "rows", "-ksp_type gmres -ksp_pc_side right"),
}

EX49, EX19, EX48 = "ksp/ksp/tutorials/ex49.c", "snes/tutorials/ex19.c", "snes/tutorials/ex48.c"
OURS = "examples/tutorials/elasticity.c"
SPONGE = "-c_str 3 -sponge_E0 1 -sponge_E1 1000 -sponge_nu0 0.4 -sponge_nu1 0.2 -sponge_t 1 -sponge_w 8"
BRICKS = "-c_str 2 -brick_E 1,10,1000,100 -brick_nu 0.4,0.2,0.3,0.1 -brick_span 16"
GRID = "-no_view -mx 192 -my 192 "
# These programs give their DM to the matrix alone, where PCMG does not look: its levels, smoothers and cycle all the
# same
LEVELS = "-pc_type kcycle -pc_kcycle_hierarchy dm -pc_kcycle_structured off -pc_kcycle_kappa 1"
SYSTEMS = {  # source, prefix, KSP, tolerance, arguments, PCMG's options
    "ex49-uniform": (EX49, "elas_", "gmres", 1e-6, GRID + "-use_nonsymbc -c_str 0", LEVELS),
    "ex49-bricks": (EX49, "elas_", "gmres", 1e-6, GRID + "-use_nonsymbc " + BRICKS, LEVELS),
    "ex49-sponge": (EX49, "elas_", "gmres", 1e-6, GRID + "-use_nonsymbc " + SPONGE, LEVELS),
    "ex49-rows-left-out": (EX49, "elas_", "gmres", 1e-6, GRID + SPONGE, None),  # no grid any more
    "ex19": (EX19, "", "gmres", None, "-da_refine 6", "-pc_type mg"),
    "ex19-grashof": (EX19, "", "gmres", None, "-da_refine 6 -grashof 1e4", "-pc_type mg"),
    "ex48": (EX48, "", "gmres", None, "-thi_mat_type aij -M 16 -P 8 -da_refine 1", "-pc_type mg"),
    "elasticity": (OURS, "", "cg", None, "-n 33 -limit 100", LEVELS),
    "elasticity-0.45": (OURS, "", "cg", None, "-n 33 -limit 100 -poisson 0.45", LEVELS),
}

# Dimension, points of a direction, options of bench/battery.c
TRANSFORMS = ((2, 255, ""), (2, 1023, ""), (2, 2047, ""), (3, 63, ""), (3, 127, ""), (3, 255, ""),
              (2, 255, "stretched"), (3, 127, "stretched"))

# The operators of ex45 and ex29 are not symmetric: rows of boundary points are diagonal, columns are not
TUTORIALS = (
    ("ex45", "3D Poisson, Dirichlet, 65 x 65 x 65 points", "gmres",
     "-da_grid_x 5 -da_grid_y 5 -da_grid_z 5 -da_refine 4"),
    ("ex29", "2D Poisson, Dirichlet, 513 x 513 points", "gmres", "-da_refine 8"),
    ("ex50", "2D Poisson, Neumann (singular), 513 x 513 points", "cg", "-da_grid_x 9 -da_grid_y 9 -da_refine 6"),
)
GENERAL = "-pc_type kcycle -pc_kcycle_structured off -pc_kcycle_kappa "
DEFAULTS = [Solver(name, name, options, "hypre" if name == "hypre" else "", "") for name, options in (
    ("mg", "-pc_type mg"), ("gamg", "-pc_type gamg"), ("hypre", "-pc_type hypre"), ("kcycle", "-pc_type kcycle"),
    ("mg levels, kappa 1 (V)", GENERAL + "1"),
    ("mg levels, kappa 2 (F)", GENERAL + "2"), ("mg levels, kappa w (W)", GENERAL + "w"))]


def coarser(options):
    """For --quick: a quarter of the points, and of their distances, each way"""
    words = options.split()
    for name, least in ("-cells", 5), ("-length", 1):
        if name in words:
            at = words.index(name) + 1
            words[at] = ",".join(str(max(least, (int(n) + 2) // 4 // 2 * 2 + int(n) % 2)) for n in words[at].split(","))
    return " ".join(words)


def problem(work, options, name):
    work.arguments.problem = coarser(options) if work.arguments.quick else options
    target = compare.problem_target(work.arguments)
    target.title = name
    return target


def chosen(work, patterns):
    """Of all solvers, ours with other options among them"""
    work.arguments.solvers = work.solvers or patterns
    known = solvers.SOLVERS + solvers.VARIANTS
    return [solver for solver in known if any(fnmatch.fnmatchcase(solver.name, pattern)
                                              for pattern in work.arguments.solvers.split(","))]


def wanted(work, names):
    return [name for name in names if any(fnmatch.fnmatchcase(name, pattern) for pattern in work.only)]


class Work:
    """What all parts need"""

    def __init__(self, options):
        given = ["--processor-time", "--no-pictures", "--sizes", "none"]
        self.arguments = compare.complete(compare.make_parser().parse_args(given))
        self.arguments.repeat, self.arguments.quick = options.repeat, options.quick
        self.arguments.slow, self.arguments.limit = 40, 120
        self.solvers, self.only, self.published = options.solvers, options.only, options.publish
        self.runner, self.folder = compare.open_runner(self.arguments, "tables")
        self.petsc, self.failed = self.runner.petsc, []

    def comparison(self, target, procs=1):
        self.runner.procs = procs
        return compare.Comparison(self.runner, target, self.arguments)

    def check(self, name, rows):
        self.failed += [f"{row.solver.name} on {name}" for row in rows if row.solver.name.startswith("kcycle")
                        and not row.ok()]

    def save(self, name, rows, key, shown=()):
        """SHOWN: columns of the table that a page has, which is printed; the rows of each KEY then are a table"""
        programs.save(self.petsc, name, rows, self.published and not self.arguments.quick, key)
        for group in dict.fromkeys(row[key] for row in rows) if shown else ():
            own = [[row[column] for column in shown] for row in rows if row[key] == group]
            print(f"\n{group}\n{compare.markdown(shown, own)}", flush=True)


# Solvers on four problems

def memory(record):
    """Doubles for each unknown that the process had at most above what it began with, the matrix among them; of PFMG
    called directly they would include the AIJ matrix that hypre's is made from"""
    if not record["memory_mb"] or record["solver"].startswith("pfmg-direct"):
        return ""
    return f"{1e6 * float(record['memory_mb']) / 8 / record['unknowns']:.1f}"


def ratios(title, records):
    """Of each family the time of its best over that of kcycle"""
    ours = next(one for one in records if one["solver"] == "kcycle")
    row = {"title": title, "procs": 1, "kcycle_s": ours["total_s"], "kcycle_iterations": ours["iterations"]}
    best = {one["family"]: one for one in compare.summary(records)}
    for family in FAMILIES:
        one = best.get(family)
        row[family] = f"{float(one['total_s']) / float(ours['total_s']):.1f}" if one else ""
        row[f"{family}_iterations"], row[f"{family}_setting"] = (one["iterations"], one["solver"]) if one else ("", "")
    return row


def part_solvers(work):
    rows, best = [], []
    for name, title, options in PROBLEMS:
        if not wanted(work, [name]):
            continue
        print(f"\n{title}", flush=True)
        comparison = work.comparison(problem(work, options, title))
        comparison.measure(chosen(work, "kcycle*,mg,mg-*,pfmg*,boomeramg-*,gamg*"))
        records = comparison.records()
        print(compare.text_table(records), flush=True)
        work.check(name, comparison.rows)
        columns = ("solver", "setup_s", "solve_s", "total_s", "iterations", "residual", "ratio", "status", "runs")
        rows += [{"name": name, **{column: one[column] for column in columns}, "memory_doubles": memory(one)}
                 for one in records]
        best.append(ratios(title, records))
    work.save("solvers.csv", rows, "name", ("solver", "setup_s", "solve_s", "iterations", "memory_doubles"))
    work.save("ratios.csv", best, "title")
    cells = [[row["title"], f"{row['kcycle_s']} s ({row['kcycle_iterations']})",
              *(f"{row[family]} ({row[family + '_iterations']})" for family in FAMILIES)] for row in best]
    print("\n" + compare.markdown(["", "kcycle", *FAMILIES], cells), flush=True)


def part_kernels(work):
    rows = []
    for name, title, options in PROBLEMS:
        for solver in chosen(work, "mg,mg-sor,mg-galerkin,kcycle,kcycle-stencil") if wanted(work, [name]) else []:
            comparison = work.comparison(problem(work, options, title))
            if comparison.fits(solver):
                continue
            _, watched = work.runner.run(comparison.target, comparison.options(solver, 1e-8) + ["-watch_kernels"], 600)
            rates = watched.rates
            rows.append({"name": name, "solver": solver.name, "triad_gbs": f"{rates['triad'] / 1e9:.1f}",
                         **{kernel: f"{rate / rates['triad']:.2f}" for kernel, rate in rates.items()
                            if kernel != "triad"}})
            print("  ".join(rows[-1].values()), flush=True)
    work.save("kernels.csv", rows, "name", ("solver", "sweep", "residual+restriction", "interpolation"))


# Without a DM

def part_nodm(work):
    rows, cores, pairs = [], os.sched_getaffinity(0), 3 if work.arguments.quick else 7
    os.sched_setaffinity(0, {max(cores)})
    for title in wanted(work, LAYOUTS):
        procs, processors, forget, more = LAYOUTS[title]
        for dim, n, coefficient, smooth in ((2, 1023, "constant", ""), (2, 1023, "1000:1", "-sd 1.5 -length 340,340"),
                                            (3, 127, "constant", ""), (3, 127, "1000:1", "-sd 1.5 -length 43,43,43")):
            options = f"-cells {','.join(dim * [str(n)])} -ends {','.join(dim * ['vv'])} {smooth}"
            target = work.comparison(problem(work, options, title), procs).target
            words = ["-renew", "3", "-pc_type", "kcycle",
                     *processors.format(y="-da_processors_y 1" if dim == 3 else "").split(), *more.split()]
            runs = [[], []]
            for k in range(2 * pairs):
                _, watched = work.runner.run(target, words + (["-forget", forget] if (k + 1) // 2 % 2 else []), 600)
                runs[(k + 1) // 2 % 2].append((sum(s.setup_processor + s.solve_processor for s in watched.solves),
                                               sum(s.iterations for s in watched.solves)))
            row = {"rows": title, "procs": procs, "dim": dim, "n": n, "coefficient": coefficient,
                   "iterations_dm": runs[0][0][1], "iterations_none": runs[1][0][1]}
            row.update({f"{name}_s": f"{statistics.median(run[0] for run in own):.3f}"
                        for name, own in zip(("dm", "none"), runs)})
            rows.append({**row, "ratio": f"{statistics.median(none[0] / dm[0] for dm, none in zip(*runs)):.2f}"})
            print("  ".join(map(str, rows[-1].values())), flush=True)
    os.sched_setaffinity(0, cores)
    work.save("nodm.csv", rows, "rows", ("dim", "coefficient", "ratio"))


# Several unknowns at a point

def part_systems(work):
    rows = []
    for name in wanted(work, SYSTEMS):
        source, prefix, ksp, rtol, arguments, mg = SYSTEMS[name]
        program = os.path.join(work.petsc["bench"], source.replace("/", "-")[:-2])
        path = source if source == OURS else os.path.join(os.path.dirname(work.petsc["harness"]), "src", source)
        programs.build_once(work.petsc, path, program, [work.petsc["library"]] if source == OURS else [])
        target = compare.Target([program, "-skip_petscrc", *arguments.split(), f"-{prefix}ksp_max_it", "300",
                                 "-snes_error_if_not_converged"], name, False)
        target.prefix, target.ksp, target.rtol = prefix, ksp, rtol
        own = [Solver(key, key, options, "", "")
               for key, options in (("kcycle", "-pc_type kcycle"), ("gamg", "-pc_type gamg"), ("mg", mg)) if options]
        one, two = ({row.solver.name: row for row in work.comparison(target, procs).measure(own, quiet=True).rows}
                    for procs in (1, 2))
        work.check(name, [one["kcycle"]])
        for key, row in one.items():
            rows.append({"problem": name, "solver": key, "solves": row.solves if row.ok() else "fails",
                         "iterations": row.iterations if row.ok() else "",
                         "iterations_2": two[key].iterations if two[key].ok() else "fails",
                         "seconds": f"{row.total(True):.3f}" if row.ok() else "",
                         "ratio": f"{row.total(True) / one['kcycle'].total(True):.2f}" if row.ok() else "",
                         "status": row.status})
            print("  ".join(map(str, rows[-1].values())), flush=True)
    work.save("systems.csv", rows, "problem", ("solver", "seconds", "iterations", "iterations_2", "ratio"))


# Exact solvers

def part_fastpoisson(work):
    battery, transforms, rows = programs.Program(work.petsc, "bench/battery.c"), poisson.Program(work.petsc), []
    for dim, n, kind in TRANSFORMS:
        n = (n + 1) // 4 - 1 if work.arguments.quick else n
        words = ["-cells", ",".join(dim * [str(n)]), "-ends", ",".join(dim * ["vv"]), "-repeat", "21", "-patience", "5"]
        words += ["-stretch", ",".join(dim * ["1.01"]), "-fine", "walls"] if kind else []
        by_hand = transforms.first("products" if kind else "fft", dim, n.bit_length(), "-effort estimate", repeat=9)
        for matrix in "aij", "stencil":
            row = {"case": f"{n}^{dim} {kind} {matrix}".replace("  ", " ")}
            for name, options in ("fastpoisson", "-ksp_type preonly"), ("kcycle", ""):
                options += f" -pc_type {name}"
                result = next(line for line in battery.lines([*words, "-dm_mat_type", matrix, *options.split()])
                              if line[0] == "result")
                row.update(dict(zip((f"{name}_setup", f"{name}_solve", f"{name}_residual"), result[4:])))
            own, other = (float(row[f"{name}_setup"]) + float(row[f"{name}_solve"])
                          for name in ("fastpoisson", "kcycle"))
            by = sum(by_hand[-2:])
            rows.append({**row, "setup": row["fastpoisson_setup"], "solve": row["fastpoisson_solve"],
                         "by_hand": f"{by:.4g}", "to_fftw": "" if kind else f"{own / by:.2f}",
                         "to_products": f"{own / by:.2f}" if kind else "", "kcycle_to_us": f"{other / own:.2f}"})
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    work.save("fastpoisson.csv", rows, "case")


# Which solver for which kind of problem

def best_of(records, family):
    return min((float(one["total_s"]) for one in records if one["family"] == family and one["status"] == "ok"),
               default=None)


def from_size(sized, families):
    """The smallest size from which on kcycle takes less time than these families"""
    smallest = ""
    for size in sorted({one["unknowns"] for one in sized if one["status"] == "ok"}, reverse=True):
        own = [one for one in sized if one["unknowns"] == size]
        ours, others = best_of(own, "kcycle"), [seconds for seconds in (best_of(own, family) for family in families)
                                                if seconds is not None]
        if ours is None or others and min(others) <= ours:
            break
        smallest = size
    return smallest


def part_choosing(work):
    arguments, rows = work.arguments, []
    arguments.slow, arguments.limit, arguments.budget, arguments.small = 12, 20, 400, arguments.quick
    for name in wanted(work, KINDS):
        arguments.problem, arguments.rtol, arguments.sizes = name, TOLERANCES.get(name, 1e-8), "0.125,0.25,0.5,1"
        print(f"\n{name}", flush=True)
        comparison = work.comparison(compare.problem_target(arguments)).measure(
            chosen(work, "kcycle,kcycle-kcg,boomeramg-*,pfmg*,mg-own-levels,gamg,gamg-tuned,ilu,jacobi,fastpoisson"))
        records = comparison.records()
        best = {one["family"]: one for one in compare.summary(records)}
        default = next((one for one in records if one["solver"] == "kcycle" and one["status"] == "ok"), None)
        sized = compare.over_sizes(work.runner, arguments, {one["solver"] for one in best.values()} | {"jacobi"},
                                   records)
        view, _ = work.runner.run(comparison.target, ["-pc_type", "kcycle", "-ksp_view"], 600)
        row = {"case": name, "kind": KINDS[name], "unknowns": records[0]["unknowns"],
               "fallback": "yes" if "another preconditioner takes their place" in view.text else ""}
        row.update({key: default[key] if default else "fails" for key in ("iterations", "setup_s", "solve_s")})
        for family in CHOICES:
            row[family], row[f"{family}: name"] = (best[family]["ratio"],
                                                   best[family]["solver"]) if family in best else ("", "")
        row["from, one level"] = from_size(sized, ("one level",))
        row["from, all"] = from_size(sized, [family for family in CHOICES if family not in ("kcycle", "fastpoisson")])
        rows.append(row)
        work.check(name, [one for one in comparison.rows if one.solver.name == "kcycle"])
    for row in rows:
        print(f"{row['case']:22} {row['unknowns']:>8} {row['iterations']:>5} "
              + "  ".join(f"{family} {row[family] or '-'}" for family in CHOICES))
    work.save("choosing.csv", rows, "case")


# PETSc's tutorials

def part_demo(work):
    arguments, panels = work.arguments, []
    arguments.limit, arguments.processor_time = 60, False
    if not work.petsc["tutorials"]:
        sys.exit("tables: this PETSc comes without its tutorials (Debian: package libpetscX.Y-dev-examples)")
    for name, title, ksp, options in TUTORIALS:
        program = os.path.join(work.petsc["bench"], name)
        programs.build_once(work.petsc, os.path.join(work.petsc["tutorials"], name + ".c"), program)
        for procs in (1, 2):
            target = compare.Target([program, "-skip_petscrc", "-ksp_type", ksp, "-ksp_max_it", "100",
                                     *options.split()], name, False)
            target.ksp, target.rtol = ksp, 1e-8
            print(f"\n{name}: {title}; {ksp}, {procs} process{'es' if procs > 1 else ''}", flush=True)
            comparison = work.comparison(target, procs).measure(DEFAULTS, quiet=True)
            print(compare.text_table(comparison.records()), flush=True)
            work.check(name, [row for row in comparison.rows if row.solver.name == "kcycle"])
            if procs == 1:
                panels.append(compare.history_panel([row for row in comparison.rows if row.ok()],
                                                    f"{name}, {ksp}\n{title}"))
    print("\n" + compare.LEGEND.format(clock="of the clock"))
    path = os.path.join(work.folder, "demo.png")
    if pictures.pyplot_or_none():
        pictures.draw(path, panels)
        print(f"Convergence over time: {os.path.relpath(path)}")


def main():
    parser = programs.options(__doc__, quick="small grids: no figures to publish", parts=PARTS[:-1], publish="",
                              repeat=3)
    parser.add_argument("--only", type=programs.several(str), default=["*"], help="lines of the tables, with * and ?")
    parser.add_argument("--solvers", default="",
                        help="of solvers, kernels and choosing: names, with * and ?, of bench/solvers.py; kcycle "
                             "among them")
    options = parser.parse_args()
    programs.choose(options.parts, PARTS, "part")
    lines = [name for name, *_ in PROBLEMS] + [*KINDS, *LAYOUTS, *SYSTEMS, "*"]
    programs.choose([pattern for pattern in options.only if not fnmatch.filter(lines, pattern)], lines[:-1], "case")
    work = Work(options)
    for part in options.parts:
        globals()[f"part_{part}"](work)
    if work.failed:
        sys.exit(f"tables: failed: {', '.join(work.failed)}: see {work.runner.log}")


if __name__ == "__main__":
    main()
