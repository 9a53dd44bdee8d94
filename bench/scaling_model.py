"""What processes send to each other in a cycle, computed: PCKCYCLE with points as smoothers in red-black order, and
hypre's PFMG, on a uniform grid in 3D whose Dirichlet points are left out. bench/scaling.py compares with what
bench/messages.c counts, and continues to more processes than the machine has.

A level is what the busiest process sends in all visits of a cycle: messages, bytes, and rounds, one after the other;
the points that it computes, ghost points among them; and whether its sweeps are plain ones, as they do not run in one
pass. The rules are those of the library: DMDA's processes, KCycleBoxCoarsen(), DepthOf() in src/pc/kcycle/ghosts.c,
KCyclePolicyReduction() and ChooseGathers().
"""

import collections
import itertools
import math

Level = collections.namedtuple("Level", "depth procs messages bytes rounds points sweeps visits plain")
Machine = collections.namedtuple("Machine", "latency overhead bandwidth")

GATHERED = 4000  # KCYCLE_GATHERED: points of each process that goes on
COARSEST = 3  # KCYCLE_COARSEST
SINGLE, DOUBLE = 4, 8


def processes(size, grid):
    """Those in each direction, as DMDACreate3d() chooses them"""
    M, N, P = grid
    n = int(0.5 + (N * N * size / (P * M)) ** (1 / 3)) or 1
    while size % n:
        n -= 1
    m = int(0.5 + math.sqrt(M * size / (P * n))) or 1
    while size % (m * n):
        m -= 1
    p = size // (m * n)
    if M > P and m < p:
        m, p = p, m
    return m, n, p


def cut(points, parts):
    """Where the parts of a direction begin, and the end"""
    starts = [0]
    for i in range(parts):
        starts.append(starts[-1] + points // parts + (points % parts > i))
    return starts


class Box:
    """A grid, and who owns what"""

    def __init__(self, ranges):
        self.ranges = ranges
        self.size = [r[-1] for r in ranges]
        self.parts = [len(r) - 1 for r in ranges]
        self.procs = math.prod(self.parts)

    def points(self):
        return math.prod(self.size)

    def own(self):
        return [[(r[i], r[i + 1]) for i in range(len(r) - 1)] for r in self.ranges]

    def around(self, width):
        """The points of each part and WIDTH more on both sides"""
        return [[(max(0, a - width), min(n, b + width)) if b > a else (a, a) for a, b in own]
                for own, n in zip(self.own(), self.size)]

    def coarser(self, first):
        """Every second point, from the first one on"""
        return Box([[(i - first + 1) // 2 for i in r] for r in self.ranges])


def gather_box(box, procs):
    return Box([cut(n, m) for n, m in zip(box.size, processes(procs, box.size))])


def overlaps(part, others):
    return [min(part[1], b) - max(part[0], a) for a, b in others if min(part[1], b) > max(part[0], a)]


def kinds(*directions):
    """Tuples of what is known of the parts of each direction, those that differ: their products are all processes"""
    return [sorted(set(zip(*values))) for values in directions]


def region(own, wanted):
    """Of an exchange of boxes of points: messages and points that processes send, for each kind of process. OWN,
    WANTED: intervals by direction"""
    each = []
    for mine, theirs in zip(own, wanted):
        sums = [overlaps(part, theirs) for part in mine]
        each.append(([b - a for a, b in mine], [sum(s) for s in sums], [len(s) for s in sums]))
    for x, y, z in itertools.product(*kinds(*each)):
        points = x[0] * y[0] * z[0]
        if points:
            yield x[2] * y[2] * z[2] - 1, x[1] * y[1] * z[1] - points


def busiest(counts):
    """The most of each, of processes that are there"""
    counts = list(counts) or [(0, 0)]
    return max(c[0] for c in counts), max(c[1] for c in counts)


def star(box):
    """An exchange of faces"""
    each = []
    for d, own in enumerate(box.own()):
        wanted = box.around(1)[d]
        each.append(([b - a for a, b in own], [len(overlaps(part, wanted)) - 1 for part in own]))
    for x, y, z in itertools.product(*kinds(*each)):
        if x[0] * y[0] * z[0]:
            yield x[1] + y[1] + z[1], x[1] * y[0] * z[0] + y[1] * x[0] * z[0] + z[1] * x[0] * y[0]


def add(*exchanges):
    """Messages and bytes of some of them: (times, (messages, points), bytes of a number)"""
    return sum(t * e[0] for t, e, _ in exchanges), sum(t * e[1] * size for t, e, size in exchanges)


def visits_of(nlevels, kappa):
    """Visits of each level from zero and others, finest first"""
    counts = [[0, 0] for _ in range(nlevels)]
    calls = collections.Counter({(kappa, True): 1})
    for depth in range(nlevels):
        below = collections.Counter()
        for (k, zero), number in calls.items():
            counts[depth][0 if zero else 1] += number
            below[(k, True)] += number
            if k > 1:
                below[(k - 1, False)] += number
        calls = below
    return counts


def reduction(rows, procs):
    """KCyclePolicyReduction(), and how many processes are left"""
    most = max(1, min(procs // 2, rows // GATHERED))
    factor, rest = 2, (procs + 1) // 2
    while rest > most or rest & (rest - 1):
        factor += 1
        rest = -(-procs // factor)
    return factor, rest


def ghost_depth(box, sweeps, ghost_points):
    """DepthOf(); 0: none. A process's own points and those around it, the most in each direction"""
    if ghost_points < 0 or (box.parts[0] == 1 and box.parts[1] == 1):
        return 0
    depth, owned, everything = 2 * sweeps + 2, 1, 1
    for own, around in zip(box.own(), box.around(depth)):
        most = max((b - a, d - c) for (c, d), (a, b) in zip(own, around))
        owned, everything = owned * most[1], everything * most[0]
    return depth if everything <= 2 * owned + ghost_points else 0


def moves(old, new, factor):
    """From all processes to those that go on: messages and points there, and back"""
    if old.procs <= 64:
        return exact_moves(old, new, factor)
    there, back = list(region(old.own(), new.own())), list(region(new.own(), old.own()))
    return busiest((m + 1, old_points) for m, old_points in there), busiest((m, p) for m, p in back)


def exact_moves(old, new, factor):
    def place(box, rank):
        m = box.parts
        return [(box.ranges[d][i], box.ranges[d][i + 1])
                for d, i in enumerate((rank % m[0], rank // m[0] % m[1], rank // m[0] // m[1]))]

    there, back = [[0, 0] for _ in range(old.procs)], [[0, 0] for _ in range(old.procs)]
    for r, q in itertools.product(range(old.procs), range(new.procs)):
        points = math.prod(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a, b in zip(place(old, r), place(new, q)))
        if points and r != q * factor:
            for list_of, who in (there, r), (back, q * factor):
                list_of[who][0] += 1
                list_of[who][1] += points
    return [tuple(t) for t in there], [tuple(b) for b in back]


def both_ways(there, back, forward, backward):
    """Of each process in FORWARD moves there and BACKWARD moves back: messages and bytes.
    Those of the busiest one if THERE holds no more"""
    if isinstance(there, list):
        return [(f[0] * forward + b[0] * backward, (f[1] * forward + b[1] * backward) * DOUBLE)
                for f, b in zip(there, back)]
    return [(max(there[0] * forward, back[0] * backward), max(there[1] * forward, back[1] * backward) * DOUBLE)]


def smoothed(box, sweeps, visits, number, finest, ghost_points):
    """Messages, bytes and rounds of a level that is smoothed, with its transfers; NUMBER: bytes of one; points that the
    busiest process computes; and are
    sweeps plain ones"""
    zero, other = visits
    coarse, all_visits = box.coarser(1), zero + other
    depth = ghost_depth(box, sweeps, ghost_points)
    if depth:
        around = box.around(depth)
        fine = busiest(region(box.own(), around))
        kept = busiest(region(coarse.own(), [[(a // 2, b // 2) for a, b in parts] for parts in around]))
        messages, sent = add((all_visits, fine, DOUBLE if finest else number), (all_visits + other, fine, number),
                             (all_visits, kept, number))
        return messages, sent, 2 * all_visits, math.prod(max(b - a for a, b in parts) for parts in around), False
    faces = busiest(star(box))
    halo = busiest(region(coarse.own(), coarse.around(1)))
    given = halo[0], halo_points(coarse)
    exchanges = zero * (4 * sweeps - 1) + other * 4 * sweeps + all_visits
    messages, sent = add((exchanges, faces, number), (all_visits, halo, number), (all_visits, given, number))
    return messages, sent, exchanges + 2 * all_visits, largest(box), box.parts[0] * box.parts[1] > 1


def halo_points(box):
    """The most points around those of a process, which it gives to their owners"""
    sizes = [[(b - a, d - c) for (a, b), (c, d) in zip(own, around)] for own, around in zip(box.own(), box.around(1))]
    return max(math.prod(p[1] for p in parts) - math.prod(p[0] for p in parts)
               for parts in itertools.product(*(sorted(set(s)) for s in sizes)))


def number_of_levels(grid):
    n, levels = list(grid), 1
    while max(n) > COARSEST:
        n, levels = [x // 2 for x in n], levels + 1
    return levels


def kcycle(grid, procs, kappa=1, limit=1000, ghost_points=5000, moved=None):
    """Levels of a cycle, finest first. Before agglomerated ones there is a level of moves, of 0 points.
    MOVED: a list to which is added what each of at most 64 processes sends in all moves"""
    box = Box([cut(n, m) for n, m in zip(grid, processes(procs, grid))])
    nlevels, number, levels = number_of_levels(grid), SINGLE if procs > 1 else DOUBLE, []
    visits, stride = visits_of(nlevels, kappa if kappa != "w" else nlevels), 1
    for depth in range(nlevels - 1):
        blocked = any(b > a and (b // 2 <= a // 2) for own in box.own()
                      for a, b in own) or any(b == a for own in box.own() for a, b in own)
        if box.procs > 1 and (blocked or (depth and box.points() // box.procs < limit)):
            factor, rest = reduction(box.points(), box.procs)
            new = gather_box(box, rest)
            zero, other = visits[depth]
            each = both_ways(*moves(box, new, factor), zero + 2 * other, zero + other)
            for rank, values in enumerate(each if moved is not None else []):
                moved[rank * stride] = tuple(a + b for a, b in zip(moved.get(rank * stride, (0, 0)), values))
            stride *= factor
            levels.append(Level(depth, box.procs, *busiest(each), 2 * zero + 3 * other, 0, 0, zero + other, False))
            box, number = new, DOUBLE
        sweeps = 2 if kappa != 1 or depth == 0 else 3 if depth == 1 else 4
        messages, sent, rounds, points, plain = 0, 0, 0, box.points(), False
        if box.procs > 1:
            messages, sent, rounds, points, plain = smoothed(box, sweeps, visits[depth], number, depth == 0,
                                                             ghost_points)
        levels.append(Level(depth, box.procs, messages, sent, rounds, points, sweeps, sum(visits[depth]), plain))
        box = box.coarser(1)
    zero = visits[-1][0]
    rest = box.procs > 1
    levels.append(Level(nlevels - 1, box.procs, zero * (box.procs - 1) if rest else 0,
                        zero * DOUBLE * (box.procs - 1) * largest(box) if rest else 0, zero if rest else 0,
                        box.points(), 1, zero, False))
    return levels


def largest(box):
    return math.prod(max(b - a for a, b in own) for own in box.own())


def pfmg(grid, procs):
    """A V-cycle with one sweep of weighted Jacobi before and after. The direction of the smallest spacing, as mean
    couplings tell it, is coarsened; a level has sweeps if
    its direction was coarsened already since the last one that has. Coarse operators have 27 points. Nothing is
    gathered"""
    box = Box([cut(n, m) for n, m in zip(grid, processes(procs, grid))])
    levels, depth, coarsened = [], 0, set()
    spacing = [math.sqrt(n / (n - 1)) if n > 1 else 1.0 for n in grid]
    while max(box.size) > 1:
        d = min((e for e in range(3) if box.size[e] > 1), key=lambda e: spacing[e])
        relaxed = depth == 0 or d in coarsened
        coarsened = {d} if relaxed else coarsened | {d}
        exchanges = [busiest(star(box) if depth == 0 else region(box.own(), box.around(1)))] * 2 if relaxed else []
        for fine, wanted in transfer(box, d):
            exchanges.append(busiest(region(box.own() if fine else kept(box, d), wanted)))
        levels.append(Level(depth, procs, sum(m for m, _ in exchanges), sum(n for _, n in exchanges) * DOUBLE,
                            sum(m > 0 for m, _ in exchanges), largest(box), 2 if relaxed else 0, 1,
                            False))
        ranges = list(box.ranges)
        ranges[d] = [(i + 1) // 2 for i in ranges[d]]
        box, depth = Box(ranges), depth + 1
        spacing[d] *= 2
    levels.append(Level(depth, procs, 0, 0, 0, 1, 1, 1, False))
    return levels


def transfer(box, d):
    """What restriction wants of fine points that are left out, and interpolation of those that are kept, with the
    points of each process"""
    wanted, given = box.own(), box.own()
    n = box.size[d]
    wanted[d] = [(a - 1 if a % 2 == 0 and a > 0 else a, b + 1 if (b - 1) % 2 == 0 and b < n else b) if b > a else (a, a)
                 for a, b in wanted[d]]
    coarse = [((a + 1) // 2, (b + 1) // 2) for a, b in given[d]]
    most = (n + 1) // 2
    given[d] = [(a // 2, min(most, (b + 2) // 2)) if b > a else c for (a, b), c in zip(given[d], coarse)]
    return (True, wanted), (False, given)


def kept(box, d):
    own = box.own()
    own[d] = [((a + 1) // 2, (b + 1) // 2) for a, b in own[d]]
    return own


def iteration(grid, procs):
    """The product of conjugate gradients: messages, bytes, rounds"""
    box = Box([cut(n, m) for n, m in zip(grid, processes(procs, grid))])
    messages, sent = add((1, busiest(star(box)), DOUBLE))
    return messages, sent, 1 if procs > 1 else 0


def weights(levels, plain=1.0):
    """Work in sweeps over points: what is done once in a visit, transfers and residual, counts as one. Plain
    sweeps take PLAIN times as long"""
    return sum(level.points * level.visits * (level.sweeps * 2 + 1) * (plain if level.plain else 1)
               for level in levels if level.points)


def seconds(levels, procs, grid, reductions, work, plain, machine):
    """Of an iteration: work, latency, bytes, reductions; WORK: seconds for each unit of weights()"""
    messages, sent, rounds = (sum(values)
                              for values in zip(iteration(grid, procs),
                                                *((level.messages, level.bytes, level.rounds) for level in levels)))
    return {"work": work * weights(levels, plain), "messages": machine.latency * rounds + machine.overhead * messages,
            "bytes": sent / machine.bandwidth,
            "reductions": reductions * machine.latency * math.ceil(math.log2(procs)) if procs > 1 else 0.0}
