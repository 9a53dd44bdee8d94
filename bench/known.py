#!/usr/bin/env python3
"""Pictures of the known problems, group "known" of bench/battery_cases.py: field and solution on a plane at a quarter
of the grid. docs/reproduction.md shows them.

    python3 bench/known.py                                     writes docs/pictures/*.png
    python3 bench/known.py --cases 'known-spe10-*' --folder .  some of them, elsewhere; --quick: small grids

Their iterations and times: python3 bench/battery.py --group known. Make the library first; matplotlib
draws (python3-matplotlib).
"""

import os
import sys

import programs
from battery_cases import GROUPS, matching, read, smaller
from pictures import fewer_colours, pyplot_or_none

# Plane, words of the field, whether it is drawn as a logarithm, words of the solution
PLANES = {
    "known-hpgmg": ("z", "coefficient", False, "solution"),
    "known-spe10-lognormal": ("z", "permeability, log", True, "pressure"),
    "known-spe10-channels": ("z", "permeability, log", True, "pressure"),
    "known-taylor-green": ("z", None, False, "pressure"),
    "known-bubble-column": ("y", "1 / density, log", True, "pressure"),
    "known-segmentation": ("z", "picture", False, "probability"),
    "known-pore-space": ("z", "pores", False, "pressure"),
    "known-pore-tight": ("z", "permeability, log", True, "pressure"),
}


def solve(program, case, quick):
    """The numbers of a plane, a line for each point: x y z field solution"""
    trace = os.path.join(program.petsc["bench"], "known.txt")
    lines = program.lines(["-repeat", "1", *(smaller(case.options) if quick else case.options), "-picture", trace,
                           "-across", PLANES[case.name][0]])
    if not any(words[0] == "result" and words[3].startswith("CONVERGED") for words in lines):
        sys.exit(f"known: {case.name} does not converge")
    with open(trace) as file:
        return [[float(word) for word in line.split()] for line in file]


def edges(middles):
    """Of cells between 0 and 1, from their middles"""
    ends = [0.0]
    for middle in middles:
        ends.append(2 * middle - ends[-1])
    return ends


def panel(axes, horizontal, vertical, values, words, size):
    image = axes.pcolormesh(edges(horizontal), edges(vertical), values, cmap="viridis", linewidth=0, rasterized=True)
    axes.set_aspect(size[1] / size[0])
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(words, fontsize=8)
    bar = axes.figure.colorbar(image, ax=axes, fraction=0.05, pad=0.02)
    bar.ax.tick_params(labelsize=6)


def extent(case, axis):
    """How wide the grid is, in the units of its cells"""
    def words(name, default):
        return [float(word) for word in case.options[case.options.index(name)
                                                     + 1].split(",")] if name in case.options else default

    cells = words("-cells", [])
    if "-stretch" in case.options:
        return 1.0
    return cells[axis] * words("-h", [1] * len(cells))[axis]


def draw(case, lines, path):
    import numpy

    plot = pyplot_or_none()
    across, field, logarithm, solution = PLANES[case.name]
    first, second = [axis for axis in range(3) if "xyz"[axis] != across]
    numbers = numpy.array(lines)
    shape = (len(numpy.unique(numbers[:, second])), len(numpy.unique(numbers[:, first])))
    horizontal, vertical = numbers[:shape[1], first], numbers[::shape[1], second]
    coefficient, values = numbers[:, 3].reshape(shape), numbers[:, 4].reshape(shape)
    if "-inactive" in case.options:
        values = numpy.ma.masked_where(coefficient == 0, values)
    if logarithm:
        coefficient = numpy.log10(coefficient)
    size = extent(case, first), extent(case, second)
    if size[1] > 2 * size[0]:  # lying
        horizontal, vertical, coefficient, values, size = vertical, horizontal, coefficient.T, values.T, size[::-1]
    panels = [(coefficient, field), (values, solution)] if field else [(values, solution)]
    stacked = size[0] > 2 * size[1]
    across, down = (1, len(panels)) if stacked else (len(panels), 1)
    figure, axes = plot.subplots(down, across, figsize=((4.6, 1.5 * down) if stacked else (2.7 * across, 2.3)), dpi=90,
                                 squeeze=False)
    for one, (numbers_shown, words) in zip(axes.flat, panels):
        panel(one, horizontal, vertical, numbers_shown, words, size)
    figure.tight_layout(pad=0.3)
    figure.savefig(path)
    plot.close(figure)
    fewer_colours(path)


def main():
    parser = programs.options(__doc__, quick="small grids", cases=["known"])
    parser.add_argument("--folder", default=os.path.join(programs.TOP, "docs", "pictures"))
    arguments = parser.parse_args()
    wanted = [case for case in matching(read("known", GROUPS["known"]), arguments.cases) if case.name in PLANES]
    if not wanted:
        sys.exit(f"known: no case is called {','.join(arguments.cases)}; there are {', '.join(PLANES)}")
    os.makedirs(arguments.folder, exist_ok=True)
    program = programs.Program(programs.petsc_at_hand(), "bench/battery.c")
    for case in wanted:
        path = os.path.join(arguments.folder, case.name + ".png")
        draw(case, solve(program, case, arguments.quick), path)
        print(f"{path} {os.path.getsize(path)} bytes", flush=True)


if __name__ == "__main__":
    main()
