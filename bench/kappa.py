#!/usr/bin/python3
"""The tables and figures of the kappa-cycle's paper and ours: CSV files, two pictures.

    python3 bench/kappa.py                                 n = 7, 8, 9: a quarter of an hour
    python3 bench/kappa.py --sizes 10 --parts tables       a larger grid, (2^10 - 1)^2 points: hours; 12 needs 4 GB
    python3 bench/kappa.py --sizes 9 --parts tables --solvers zebra --angles 45 --epsilons 1e-5
    python3 bench/kappa.py --publish                       also writes bench/results/kappa*.csv, which the documentation
                                                           quotes

Avnat and Yavneh, On the Recursive Structure of Multigrid Cycles. Parts: model (Tables 3.1 and 3.3), factors (error
factors of a cycle), times (Figure 3.1, Table 3.2), contrast (Figure 4.1), tables (4.1 to 4.6). The paper's grids have
12 and 14 levels. Make the library first. Results go to the folder bench of the build.
"""

import math
import os
import sys

import pictures
import programs
from programs import choose, petsc_at_hand, save, several

PARTS = ("model", "factors", "times", "contrast", "tables")
SOLVERS = ("jacobi", "alternating", "zebra")
KAPPAS = {"V": 1, "F": 2, "3": 3, "4": 4, "W": 0}  # 0: the W-cycle, as the program takes it
NAMES = {str(kappa): name for name, kappa in KAPPAS.items()}
ANGLES = (10, 30, 45, 60, 80)

# Sections 3.2 and 3.3: milliseconds of a kernel launch and of an operation; pre- and post-relaxations
ALPHA, BETA, SWEEPS = 2.48e-3, 1.18e-6, 4
# Table 3.1
TURNING = {"V": (8.2, 80000), "F": (9.1, 320000), "3": (10.0, 1000000), "4": (10.7, 2700000), "W": (12.4, 28000000)}
# Table 3.2, in percent, from n = 8 on
ERRORS = {"V": (-4.28, -1.68, -3.64, -1.96, 1.55, 1.42), "F": (-0.80, 0.05, -2.19, -5.14, -0.50, 0.90),
          "3": (-2.13, -1.35, -2.33, -5.94, -2.18, -0.12),
          "4": (-0.49, 0.08, -0.72, -5.28, -4.38, -1.02), "W": (3.61, 3.21, 1.07, -0.62, 0.12, 0.30)}

# Tables 4.1 to 4.6: levels, epsilon, angles; for each kappa milliseconds and cycles or iterations, None: timeout
TABLES = {
    ("jacobi", "alone"): ("4.1", 12, 1e-4, (45,), {"V": ((182216, 6909),), "F": ((52080, 1403),), "3": ((28863, 651),),
                                                   "4": ((26356, 495),), "W": ((42483, 470),)}),
    ("jacobi", "cg"): ("4.2", 12, 1e-4, (45,), {"V": ((9014, 189),), "F": ((5262, 89),), "3": ((4252, 63),),
                                                "4": ((4294, 56),), "W": ((6142, 54),)}),
    ("alternating", "alone"): ("4.3", 14, 1e-5, ANGLES, {
        "V": ((751452, 2909), None, None, None, (835140, 3234)),
        "F": ((197204, 589), (451086, 1347), (577985, 1725), (553166, 1651), (219901, 656)),
        "3": ((103595, 274), (212531, 562), (266935, 706), (253346, 670), (114530, 303)),
        "4": ((88675, 206), (163207, 379), (199501, 463), (191667, 445), (97792, 227)),
        "W": ((159587, 193), (268824, 326), (316618, 385), (313178, 381), (174642, 212))}),
    ("alternating", "cg"): ("4.4", 14, 1e-5, ANGLES, {
        "V": ((39348, 124), (61707, 195), (72305, 229), (68893, 218), (41898, 132)),
        "F": ((23199, 58), (33852, 85), (38888, 98), (37598, 95), (24343, 61)),
        "3": ((18384, 41), (25352, 57), (28401, 64), (27459, 62), (19209, 43)),
        "4": ((18117, 36), (23970, 48), (26439, 53), (25869, 52), (19057, 38)),
        "W": ((31548, 35), (40367, 45), (43921, 49), (43763, 49), (33166, 37))}),
    ("zebra", "alone"): ("4.5", 14, 1e-5, ANGLES, {
        "V": ((618154, 1705), None, None, None, (620274, 1711)),
        "F": ((297372, 371), (775767, 966), (875116, 1093), (677832, 846), (193031, 241)),
        "3": ((281482, 187), (594359, 395), (616255, 410), (450079, 299), (114353, 76)),
        "4": ((410784, 148), (730504, 263), (704672, 254), (482585, 174), (110864, 40)),
        "W": (None, None, None, None, (363991, 26))}),
    ("zebra", "cg"): ("4.6", 14, 1e-5, ANGLES, {
        "V": ((39548, 93), (70761, 164), (79566, 189), (69379, 165), (39811, 94)),
        "F": ((39377, 45), (61557, 71), (68511, 79), (58007, 67), (31492, 36)),
        "3": ((52292, 33), (77894, 48), (79088, 50), (64627, 41), (31889, 20)),
        "4": ((85674, 30), (115353, 40), (114044, 40), (94055, 33), (43082, 15)),
        "W": ((411286, 29), (538387, 38), (510449, 36), (408226, 29), (170028, 12))}),
}


class Program(programs.Program):
    def given(self, **options):
        return self.lines([word for name, value in options.items() for word in ("-" + name, value)])

    def results(self, **options):
        """Rows of solver, method, n, angle, epsilon, kappa, value, seconds"""
        names = ("solver", "method", "n", "angle", "epsilon", "kappa", "value", "seconds")
        rows = [dict(zip(names, words[1:])) for words in self.given(**options) if words[0] == "result"]
        for row in rows:
            row.update(n=int(row["n"]), angle=int(float(row["angle"])), epsilon=float(row["epsilon"]),
                       kappa=NAMES[row["kappa"]], value=float(row["value"]),
                       seconds=float(row["seconds"]))
        return rows


# The model of section 3


def recursion(kappa, levels, launches, coarsest, counts):
    """Kernel launches of a cycle by running Algorithm 4 without its arithmetic; counts: calls on each level, the finest
    first"""
    counts[len(counts) - levels] += 1
    if levels == 1:
        return coarsest
    second = recursion(kappa - 1, levels - 1, launches, coarsest, counts) if kappa > 1 else 0
    return launches + recursion(kappa, levels - 1, launches, coarsest, counts) + second


def operations_factor(kappa):
    return 2 * (1 - 3.0**-kappa) if kappa else 2.0


def operations(kappa, n):
    return operations_factor(kappa) * (2**n - 1)**2


def total_calls(kappa, n):
    """Table 3.3 for any real number of levels"""
    if not kappa:
        return 2.0**n - 1
    return sum(math.prod((n - i) / (i + 1) for i in range(j)) for j in range(1, kappa + 1))


def launches(kappa, n, sweeps):
    return (5 + sweeps) * total_calls(kappa, n - 1) + total_calls(kappa, n) - total_calls(kappa, n - 1)


def turning_point(kappa, sweeps):
    """The appendix: levels at which launches and operations cost the same"""
    n = 2.0
    for _ in range(20):
        n = math.log2(1 + math.sqrt(ALPHA / BETA * launches(kappa, n, sweeps) / operations_factor(kappa)))
    return n


def model(program):
    """Calls by the library's formula and by the recursion, launches and predicted times"""
    rows = []
    for n in range(1, 14):
        known = {NAMES[words[2]]: [int(word) for word in words[3:]] for words in program.given(n=n, calls="true")}
        for name, kappa in KAPPAS.items():
            counts = [0] * n
            count = recursion(kappa or n, n, 5 + SWEEPS, 1, counts)
            if counts != known[name] or count != round(launches(min(kappa or n, n), n, SWEEPS)):
                sys.exit(f"kappa: calls of kappa {name} on {n} levels are {counts}, launches {count}: the formulas "
                         "say otherwise")
            rows.append({"n": n, "kappa": name, "coarsest_calls": counts[-1], "total_calls": sum(counts),
                         "gpu_calls": count, "operations": f"{operations(kappa, n):.0f}",
                         "model_ms": f"{ALPHA * count + BETA * operations(kappa, n):.3f}"})
    return rows


def turning_points():
    for name, kappa in KAPPAS.items():
        row = {"kappa": name}
        for sweeps in (2, 4):
            n = turning_point(kappa, sweeps)
            row.update({f"levels_{sweeps}_sweeps": f"{n:.1f}", f"unknowns_{sweeps}_sweeps": f"{(2**n - 1)**2:.0f}"})
        yield {**row, "paper_levels": TURNING[name][0], "paper_unknowns": TURNING[name][1]}


# What is measured


def times(program, rows, sizes):
    """Into the rows of the model: measured times of a cycle, those of the model with this machine's alpha and beta, its
    relative errors"""
    measured = {(row["n"], row["kappa"]): 1000 * row["seconds"] for n in sizes
                for row in program.results(n=n, methods="cycle")}
    known = [(row["gpu_calls"], float(row["operations"]), measured[row["n"], row["kappa"]])
             for row in rows if (row["n"], row["kappa"]) in measured]
    cc, co, oo = (sum(a[i] * a[j] for a in known) for i, j in ((0, 0), (0, 1), (1, 1)))
    ct, ot = (sum(a[i] * a[2] for a in known) for i in (0, 1))
    alpha, beta = (ct * oo - ot * co) / (cc * oo - co * co), (ot * cc - ct * co) / (cc * oo - co * co)
    print(f"this machine: alpha = {alpha:.3g} ms, beta = {beta:.3g} ms\n")
    for row in rows:
        key = row["n"], row["kappa"]
        if key in measured:
            fitted = alpha * row["gpu_calls"] + beta * float(row["operations"])
            row.update(measured_ms=f"{measured[key]:.4g}", calls_ms=f"{alpha * row['gpu_calls']:.4g}",
                       fitted_ms=f"{fitted:.4g}",
                       error_percent=f"{100 * (fitted / measured[key] - 1):.1f}")
        if row["n"] >= 8:
            row["paper_error_percent"] = ERRORS[row["kappa"]][row["n"] - 8]


def factors(program, sizes):
    for solver in SOLVERS:
        for n in sizes:
            for row in program.results(solver=solver, n=n, methods="factor"):
                yield {"solver": solver, "n": n, "points": 2**n - 1, "angle": row["angle"], "epsilon": row["epsilon"],
                       "kappa": row["kappa"], "error_factor": f"{row['value']:.5f}"}


def contrast(program, sizes):
    """Figure 4.1: cycles of the stand-alone solver with Jacobi at 45 degrees"""
    for n in sizes:
        for epsilon in ("1e-5", "1e-4", "1e-3", "1e-2", "1e-1", "1"):
            rows = program.results(n=n, epsilon=epsilon, methods="alone")
            for row in rows:
                yield {"n": n, "points": 2**n - 1, "epsilon": epsilon, "kappa": row["kappa"],
                       "cycles": int(row["value"]), "seconds": row["seconds"],
                       "relative_time": f"{row['seconds'] / rows[0]['seconds']:.3f}"}


def paper_entry(row):
    number, levels, epsilon, angles, entries = TABLES[row["solver"], row["method"]]
    if row["epsilon"] != epsilon or row["angle"] not in angles:
        return {}
    entry = entries[row["kappa"]][angles.index(row["angle"])]
    base = entries["F" if row["method"] == "cg" else "W"][angles.index(row["angle"])]
    return {"table": number, "paper_n": levels, "paper_count": entry[1] if entry else "timeout",
            "paper_ms": entry[0] if entry else "timeout",
            "paper_relative_time": f"{entry[0] / base[0]:.3f}" if entry and base else ""}


def table(rows):
    """Of one solver on one problem; times relative to the W-cycle's as in Table 4.1, with CG to the F-cycle's as in
    Table 4.2"""
    for row in rows:
        base = [other["seconds"] for other in rows if other["method"] == row["method"]
                and other["kappa"] == ("F" if row["method"] == "cg" else "W")][0]
        yield {"solver": row["solver"], "method": row["method"], "n": row["n"], "points": 2**row["n"] - 1,
               "angle": row["angle"], "epsilon": row["epsilon"],
               "kappa": row["kappa"], "count": int(row["value"]), "seconds": row["seconds"],
               "relative_time": f"{row['seconds'] / base:.3f}", **paper_entry(row)}


def print_table(rows):
    """Counts, and the paper's after a bar"""
    first = rows[0]
    ours = {row["kappa"]: row for row in rows}
    paper = ""
    if "table" in first:
        paper = "  |  " + "  ".join(str(ours[name]["paper_count"]) for name in KAPPAS)
        paper += f"  (Table {first['table']}, n = {first['paper_n']})"
    print(f"{first['solver']:12}{first['method']:6} n = {first['n']:<3} epsilon {first['epsilon']:<6g} "
          f"{first['angle']:>3} degrees: " +
          "  ".join(f"{ours[name]['count']:>5} ({ours[name]['relative_time']})" for name in KAPPAS) + paper, flush=True)


def tables(program, arguments):
    for solver in arguments.solvers:
        for n in arguments.sizes:
            for epsilon in arguments.epsilons:
                for angle in arguments.angles:
                    rows = list(table(program.results(solver=solver, n=n, epsilon=epsilon, angle=angle)))
                    for method in ("alone", "cg"):
                        print_table([row for row in rows if row["method"] == method])
                    yield from rows


# Pictures


def time_panels(rows):
    """Figure 3.1: all measured times, and for each kappa those of the model with its two parts"""
    known = {name: [row for row in rows if row["kappa"] == name and "measured_ms" in row] for name in KAPPAS}

    def curve(label, own, style, value):
        return label, [row["n"] for row in own], [value(row) for row in own], style

    def of(column):
        return lambda row: float(row[column])

    yield "measured", "levels", "ms a cycle", "y", [curve(f"kappa {name}", own, "o-", of("measured_ms"))
                                                    for name, own in known.items()]
    for name, own in known.items():
        yield f"kappa {name}", "levels", "ms a cycle", "y", [
            curve("measured", own, "k-o", of("measured_ms")), curve("model", own, "b-", of("fitted_ms")),
            curve("calls", own, "r--", of("calls_ms")),
            curve("operations", own, "g--", lambda row: float(row["fitted_ms"]) - float(row["calls_ms"]))]


def contrast_panels(rows):
    """Figure 4.1: run-times for each epsilon"""
    for n in dict.fromkeys(row["n"] for row in rows):
        own = {name: [row for row in rows if row["n"] == n and row["kappa"] == name] for name in KAPPAS}
        yield f"{2**n - 1}^2 points", "epsilon", "s", "xy", [(f"kappa {name}", [float(row["epsilon"]) for row in of],
                                                              [row["seconds"] for row in of])
                                                             for name, of in own.items()]


def read_arguments():
    parser = programs.options(__doc__, parts=PARTS, publish="")
    parser.add_argument("--sizes", type=several(int), default=[7, 8, 9],
                        help="levels n of contrast and tables; default 7,8,9")
    parser.add_argument("--solvers", type=several(str), default=list(SOLVERS),
                        help="of tables; default all: " + ",".join(SOLVERS))
    parser.add_argument("--angles", type=several(int), default=list(ANGLES),
                        help="of tables, in degrees; default 10,30,45,60,80")
    parser.add_argument("--epsilons", type=several(float), default=[1e-4, 1e-5], help="of tables; default 1e-4,1e-5")
    arguments = parser.parse_args()
    choose(arguments.parts, PARTS, "part")
    choose(arguments.solvers, SOLVERS, "solver")
    return arguments


def main():
    arguments = read_arguments()
    petsc = petsc_at_hand()
    program, results, panels = Program(petsc, "bench/kappa.c", True), {}, {}
    if "model" in arguments.parts or "times" in arguments.parts:
        results["kappa-model"] = model(program)
        results["kappa-turning"] = list(turning_points())
    if "times" in arguments.parts:
        times(program, results["kappa-model"], range(4, 11))
        panels["kappa-times"] = time_panels(results["kappa-model"])
    if "factors" in arguments.parts:
        results["kappa-factors"] = list(factors(program, (5, 6)))
    if "contrast" in arguments.parts:
        results["kappa-contrast"] = list(contrast(program, sorted({min(arguments.sizes), max(arguments.sizes)})))
        panels["kappa-contrast"] = contrast_panels(results["kappa-contrast"])
    if "tables" in arguments.parts:
        results["kappa"] = list(tables(program, arguments))
    for name, rows in results.items():
        save(petsc, name + ".csv", rows, arguments.publish)
    for name, own in panels.items():
        pictures.draw(os.path.join(petsc["bench"], name + ".png"), list(own))
    print(f"\n{', '.join(name + '.csv' for name in results)} in {petsc['bench']}")


if __name__ == "__main__":
    main()
