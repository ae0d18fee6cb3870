"""What the benchmark runs besides: launches of few threads and many steps, as real
programs have them, and many small ones. Their loops are for one core, `njit`.
"""

import math

import numpy as np
from numba import cuda, float32, njit

from tests.specimens.bench_kernels import Case


@cuda.jit
def walk(chain, steps, out):
    p = cuda.threadIdx.x
    for _ in range(steps):
        p = chain[p]
    out[cuda.threadIdx.x] = p


@njit
def walk_loops(blocks, threads, chain, steps, out):
    for t in range(threads):
        p = t
        for _ in range(steps):
            p = chain[p]
        out[t] = p


@cuda.jit
def same_cells(x, steps, a):
    for i in range(steps):
        for j in range(8):
            a[j] = x[j] * 2.0
            a[j + 8] = a[j] + i


@njit
def same_cells_loops(blocks, threads, x, steps, a):
    for _ in range(threads):
        for i in range(steps):
            for j in range(8):
                a[j] = x[j] * 2.0
                a[j + 8] = a[j] + i


def boxes_with(jit):
    """A cross product, a box's corners, and whether a point is within them."""

    @jit
    def cross(ax, ay, bx, by):
        return ax * by - ay * bx

    @jit
    def corners(box, q):
        c, s = math.cos(box[4]), math.sin(box[4])
        for k in range(4):
            dx = box[2] / 2 if k == 1 or k == 2 else -box[2] / 2
            dy = box[3] / 2 if k >= 2 else -box[3] / 2
            q[k, 0] = box[0] + dx * c - dy * s
            q[k, 1] = box[1] + dx * s + dy * c

    @jit
    def inside(x, y, q):
        n = 0
        for k in range(4):
            j = (k + 1) % 4
            along = q[j, 0] - q[k, 0], q[j, 1] - q[k, 1]
            if cross(along[0], along[1], x - q[k, 0], y - q[k, 1]) >= 0:
                n += 1
        return n == 4

    return cross, corners, inside


def crossings_with(jit, cross):
    """Where the sides of two boxes cross."""

    @jit
    def crossings(p, q, points, n):
        for i in range(4):
            i2 = (i + 1) % 4
            rx, ry = p[i2, 0] - p[i, 0], p[i2, 1] - p[i, 1]
            for j in range(4):
                j2 = (j + 1) % 4
                sx, sy = q[j2, 0] - q[j, 0], q[j2, 1] - q[j, 1]
                d = cross(rx, ry, sx, sy)
                if abs(d) > 1e-9:
                    t = cross(q[j, 0] - p[i, 0], q[j, 1] - p[i, 1], sx, sy) / d
                    u = cross(q[j, 0] - p[i, 0], q[j, 1] - p[i, 1], rx, ry) / d
                    if 0 <= t and t <= 1 and 0 <= u and u <= 1:
                        points[n, 0] = p[i, 0] + t * rx
                        points[n, 1] = p[i, 1] + t * ry
                        n += 1
        return n

    return crossings


def sort_with(jit):
    """Points sorted by their angle about the middle."""

    @jit
    def sort_by_angle(points, n):
        cx, cy = 0.0, 0.0
        for i in range(n):
            cx += points[i, 0]
            cy += points[i, 1]
        cx /= n
        cy /= n
        for i in range(1, n):
            x, y = points[i, 0], points[i, 1]
            angle, j = math.atan2(y - cy, x - cx), i - 1
            while j >= 0 and math.atan2(points[j, 1] - cy, points[j, 0] - cx) > angle:
                points[j + 1, 0], points[j + 1, 1] = points[j, 0], points[j, 1]
                j -= 1
            points[j + 1, 0], points[j + 1, 1] = x, y

    return sort_by_angle


def overlap_with(jit):
    """The area that two rotated boxes share: corners, crossings, sorted by angle."""
    cross, corners, inside = boxes_with(jit)
    crossings, sort_by_angle = crossings_with(jit, cross), sort_with(jit)

    @jit
    def overlap(a, b, p, q, points):
        corners(a, p)
        corners(b, q)
        n = 0
        for i in range(4):
            if inside(p[i, 0], p[i, 1], q):
                points[n, 0], points[n, 1] = p[i, 0], p[i, 1]
                n += 1
            if inside(q[i, 0], q[i, 1], p):
                points[n, 0], points[n, 1] = q[i, 0], q[i, 1]
                n += 1
        n = crossings(p, q, points, n)
        if n < 3:
            return 0.0
        sort_by_angle(points, n)
        area = 0.0
        for i in range(n):
            j = (i + 1) % n
            area += cross(points[i, 0], points[i, 1], points[j, 0], points[j, 1])
        return abs(area) / 2

    return overlap


overlap = overlap_with(cuda.jit(device=True))
overlap_in_loops = overlap_with(njit)


@cuda.jit
def shared_area(boxes, others, out):
    p = cuda.local.array((4, 2), float32)
    q = cuda.local.array((4, 2), float32)
    points = cuda.local.array((24, 2), float32)
    t = cuda.grid(1)
    total = 0.0
    for j in range(others.shape[0]):
        total += overlap(boxes[t], others[j], p, q, points)
    out[t] = total


@njit
def shared_area_loops(blocks, threads, boxes, others, out):
    p = np.empty((4, 2), np.float32)
    q = np.empty((4, 2), np.float32)
    points = np.empty((24, 2), np.float32)
    for t in range(blocks * threads):
        total = 0.0
        for j in range(others.shape[0]):
            total += overlap_in_loops(boxes[t], others[j], p, q, points)
        out[t] = total


def boxes(n):
    some = np.random.default_rng(1).random((n, 5), np.float32)
    return some * np.float32([3, 3, 1, 1, 3]) + np.float32([0, 0, 1, 1, 0])


@cuda.jit
def neighbours(a, last, out):
    i = cuda.grid(1)
    if 0 < i < a.size - 1:
        out[i] = 0.5 * (a[i - 1] + a[i + 1])
        last[0] = i  # a race: any thread may be the last


@njit
def neighbours_loops(blocks, threads, a, last, out):
    for i in range(1, a.size - 1):
        out[i] = 0.5 * (a[i - 1] + a[i + 1])
        last[0] = i


@cuda.jit
def rolling(a, width, out):
    i = cuda.grid(1)
    for k in range(i, a.size - width, cuda.gridsize(1)):
        total, squares, low, high = 0.0, 0.0, a[k], a[k]
        for j in range(k, k + width):
            total += a[j]
            squares += a[j] * a[j]
            low, high = min(low, a[j]), max(high, a[j])
        mean = total / width
        out[0, k], out[1, k] = mean, math.sqrt(abs(squares / width - mean * mean))
        out[2, k], out[3, k], out[4, k] = low, high, (high - low) / 2


@njit
def rolling_loops(blocks, threads, a, width, out):
    for k in range(a.size - width):
        total, squares, low, high = 0.0, 0.0, a[k], a[k]
        for j in range(k, k + width):
            total += a[j]
            squares += a[j] * a[j]
            low, high = min(low, a[j]), max(high, a[j])
        mean = total / width
        out[0, k], out[1, k] = mean, math.sqrt(abs(squares / width - mean * mean))
        out[2, k], out[3, k], out[4, k] = low, high, (high - low) / 2


def chain():
    return np.random.default_rng(1).permutation(4096)


def random(n):
    return np.random.default_rng(1).random(n)


NARROW = [
    Case(
        name="dependent loads, one warp",
        kernel=walk,
        loops=walk_loops,
        launch=lambda n: (1, 32),
        arguments=lambda n: (chain(), n, np.zeros(32, np.int64)),
        work=lambda n: n,
        size=20_000,
        small=None,
    ),
    Case(
        name="the same cells",
        kernel=same_cells,
        loops=same_cells_loops,
        launch=lambda n: (1, 256),
        arguments=lambda n: (random(16), n, np.zeros(16)),
        work=lambda n: n,
        size=200,
        small=None,
    ),
    Case(
        name="overlap of boxes",
        kernel=shared_area,
        loops=shared_area_loops,
        launch=lambda n: (1, 32),
        arguments=lambda n: (boxes(32), boxes(n), np.zeros(32, np.float32)),
        work=lambda n: n,
        size=20,
        small=None,
    ),
    Case(
        name="rolling statistics",
        kernel=rolling,
        loops=rolling_loops,
        launch=lambda n: (1, 32),
        arguments=lambda n: (random(n), 24, np.zeros((5, n))),
        work=lambda n: n,
        size=2000,
        small=None,
    ),
    Case(
        name="100 launches that race",
        kernel=neighbours,
        loops=neighbours_loops,
        launch=lambda n: (8, 128),
        arguments=lambda n: (random(n), np.zeros(1), np.zeros(n)),
        work=lambda n: n,
        size=1024,
        small=None,
        times=100,
    ),
]
