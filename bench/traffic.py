#!/usr/bin/env python3
"""Bytes that kernels on a device move, counted by the stand-ins of tests/cudahost, and the least. Nothing here is
measured.

  python3 bench/traffic.py                  2D and 3D, a launch for each half sweep and in tiles; minutes
  python3 bench/traffic.py --publish        also writes bench/results/traffic.csv

A solve of Poisson's equation with one CG iteration and V-cycles with two sweeps; launches on the finest level. The
stand-ins count sectors of 32 bytes that differ. Counted in each block, they are those of a device without a cache
between blocks and memory. Counted in each launch, they are those of a cache as large as the grid. A device is between
the two. What tiles move on large grids is computed from the blocks and their rims, as on the grids that are counted.
The next column shows how well.

Make the library with a PETSc that has CUDA, and the stand-ins: make check SEARCH=device_tiles
"""

import os
import subprocess
import sys

import programs
from programs import build_once, petsc_at_hand, save, surroundings

SECTOR = 32
H100 = (227 * 1024, 132)  # bytes of shared memory of a block, processors; the stand-in has them, too
GRIDS = {2: (1025, 513, 1), 3: (129, 97, 49)}
PROCESSORS = {2: 64, 3: 48}  # of the stand-in: so few that tiles march on these grids
LARGE = {2: (4096, 4096, 1), 3: (512, 512, 512)}
# numbers a point; transfers by dimension
LEAST = {"half sweep from zeros": 2, "half sweep": 3, "residual": 3, "product": 2}


class Tiles:
    """How src/kernel/cuda/tilecuda.cu shares the work out"""

    def __init__(self, n, size, halves, zeros, restricts, interpolates, device=H100):
        shared, processors = device
        self.interpolates = interpolates
        self.three, self.n, self.size, self.zeros, self.restricts = n[2] > 1, n, size, zeros, restricts
        self.width = 64 if self.three else 512
        start = 0 if zeros else 1
        self.rim = halves - 1 + start + (2 if restricts else 0)
        planes = halves + 1 + start + halves + (2 if restricts else 0)
        rows = 1
        if self.three:
            rows = (8 if size == 4 else 6) * 8
            while (planes * self.width * rows + (33 * (rows // 2 + 1) if restricts else 0)) * size > shared:
                rows -= 1
        across = [-(-n[0] // (self.width - 2 * self.rim)), -(-n[1] // (rows - 2 * self.rim)) if self.three else 1]
        deep = n[2] if self.three else n[1]
        marches = min(-(-2 * processors // (across[0] * across[1])), -(-deep // 16))
        self.own = [-(-n[0] // across[0]), -(-n[1] // across[1]) if self.three else 1, -(-deep // marches)]
        self.extent = [n[0], n[1] if self.three else 1, deep]

    def ranges(self, d, rim):
        """Points of each part in a direction, inside the grid"""
        rim = 0 if d == 1 and not self.three else rim
        for first in range(0, self.extent[d], self.own[d]):
            yield max(0, first - rim), min(self.extent[d], first + self.own[d] + rim)

    def sectors(self, first, end, n):
        """Of a piece of a line; lines begin anywhere in a sector unless their length is a multiple of it"""
        per = SECTOR // self.size
        if end - first == n:
            return n / per
        return (end + per - 1) // per - first // per if n % per == 0 else (end - first + per - 1) / per

    def count(self, rim, coarse=False):
        """Numbers that all blocks touch, in units of the points of the grid"""
        half = (lambda a, b: ((a + 1) // 2, b // 2 + 1)) if coarse else (lambda a, b: (a, b))
        n = (self.n[0] + 1) // 2 if coarse else self.n[0]
        along = sum(self.sectors(a, min(b, n), n) for a, b in (half(*r) for r in self.ranges(0, rim)))
        lines = 1 if not self.three else sum(b - a for a, b in (half(*r) for r in self.ranges(1, rim)))
        planes = sum(b - a for a, b in (half(*r) for r in self.ranges(2, rim)))
        return along * lines * planes * (SECTOR / self.size) / (self.n[0] * self.n[1] * self.n[2])

    def numbers(self):
        reads = self.count(self.rim) * (1 if self.zeros else 2)
        return reads + self.count(0) + (self.count(0, True) if self.restricts
                                        else 0) + (self.count(self.rim, True) if self.interpolates else 0)


def launches(petsc, program, n, tiles):
    """Of each launch in its order: kernel, bytes that blocks move, bytes that the launch moves, shared memory of a
    block"""
    host = os.path.join(petsc["build"], "cudahost")
    library, trace = os.path.join(host, "libpetsckcycle.so"), os.path.join(petsc["bench"], "traffic.txt")
    if not os.path.exists(library):
        sys.exit("traffic: there are no stand-ins: run make check SEARCH=device_tiles")
    if os.path.exists(trace):
        os.remove(trace)
    names = {}
    for line in subprocess.run(["nm", "-C", library], stdout=subprocess.PIPE, universal_newlines=True,
                               check=True).stdout.splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[1] in "tT":
            names[int(words[0], 16)] = words[2].split("(")[0].split(" ")[-1]
    environment = surroundings()
    environment.update(LD_LIBRARY_PATH=host, CUDAHOST_TRAFFIC=trace,
                       CUDAHOST_PROCESSORS=str(PROCESSORS[3 if n[2] > 1 else 2]))
    sizes = [word for d in range(3 if n[2] > 1 else 2) for word in ("-da_grid_" + "xyz"[d], str(n[d]))]
    options = ["-dll_append", library, "-pc_type", "kcycle", "-ksp_type", "cg", "-ksp_max_it", "1", "-dm_mat_type",
               "stencil", "-dm_vec_type", "cuda", "-pc_kcycle_graph", "off",
               "-pc_kcycle_semicoarsen", "xyz" if n[2] > 1 else "xy", "-pc_kcycle_anisotropy", "off",
               "-mg_levels_pc_relax_clusters", "off",
               "-mg_levels_ksp_max_it", "2", "-pc_kcycle_tile_above", "0" if tiles else "1000000000"]
    if subprocess.run([program, "-skip_petscrc", *options, *sizes], env=environment, stdin=subprocess.DEVNULL,
                      stdout=subprocess.DEVNULL).returncode:
        sys.exit("traffic: the program has failed")
    with open(trace) as file:
        for line in file:
            words = line.split()
            yield names.get(int(words[0], 16),
                            ""), int(words[6]) + int(words[7]), int(words[8]) + int(words[9]), int(words[5])


def verbs(dim, all_launches, points):
    """The first launch of each kind on the finest level, by its kernel and what came before: (verb, least, numbers of
    blocks, of the launch, shared memory)"""
    found, halves, fused = {}, 0, 0
    for kernel, blocks, once, shared in all_launches:
        if once < (0.9 if kernel in ("Restrict", "Interpolate") else 1.8) * 8 * points:
            continue
        verb = None
        if kernel.startswith("RelaxColour"):
            verb, halves = ("half sweep from zeros" if not halves else "half sweep"), halves + 1
        elif kernel.startswith("Compute"):
            verb = "residual" if once > 2.5 * 8 * points else "product"
        elif kernel.startswith("Sweeps"):
            verb, fused = ("4 half sweeps from zeros, residual, restriction" if not fused
                           else "interpolation, addition, 4 half sweeps"), fused + 1
        elif kernel in ("Restrict", "Interpolate"):
            verb = {"Restrict": "restriction", "Interpolate": "interpolation and addition"}[kernel]
        if verb:
            found.setdefault(verb, (blocks / (8 * points), once / (8 * points), shared))
    share = 0.5**dim
    least = dict(LEAST, restriction=1 + share)
    least["interpolation and addition"] = 2 + share
    least["4 half sweeps from zeros, residual, restriction"] = 2 + share
    least["interpolation, addition, 4 half sweeps"] = 3 + share
    return [(verb, least[verb], *found[verb]) for verb in least if verb in found]


def main():
    arguments, petsc, rows = programs.options(__doc__, publish="").parse_args(), petsc_at_hand(), []
    print("| kernel | dim | least | blocks | launch | blocks on large grids, computed | as computed here | shared, kB "
          "|\n|---|---|---|---|---|---|---|---|")
    for dim, source in (2, "ex29"), (3, "ex45"):
        n, program = GRIDS[dim], os.path.join(petsc["bench"], source)
        build_once(petsc, os.path.join(petsc["tutorials"], source + ".c"), program, more=["-w"])
        for tiles in False, True:
            for verb, least, blocks, once, shared in verbs(dim, launches(petsc, program, n, tiles), n[0] * n[1] * n[2]):
                row = {"dim": dim, "kernel": verb, "least": f"{least:.3f}", "blocks": f"{blocks:.2f}",
                       "launch": f"{once:.2f}", "large": "", "computed": "", "shared": f"{shared / 1000:.0f}"}
                if "4 half" in verb:
                    here, there = (Tiles(grid, 8, 4, "zeros" in verb, "zeros" in verb, "inter" in verb,
                                         (H100[0], processors)).numbers()
                                   for grid, processors in ((n, PROCESSORS[dim]), (LARGE[dim], H100[1])))
                    row.update(large=f"{there:.2f}", computed=f"{here:.2f}")
                elif tiles:
                    continue
                rows.append(row)
                print(f"| {verb} | {dim}D | " + " | ".join(list(row.values())[2:]) + " |", flush=True)
    save(petsc, "traffic.csv", rows, arguments.publish)


if __name__ == "__main__":
    main()
