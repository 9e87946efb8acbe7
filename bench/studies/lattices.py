#!/usr/bin/env python3
"""How stiff the usual cuts of a grid into tetrahedra are: a cantilever of 16 x 4 x 4 cells under a tip load
in four directions, a torque and a pull, linear elasticity, as a share of the exact deflection (Timoshenko's
beam; Saint-Venant's torsion of a square, 0.1406 b^4). 1 is right, less is too stiff. Needs numpy and scipy.

    python3 bench/studies/lattices.py
"""
import itertools

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

LENGTH, SIDE = 16.0, 4.0


def kuhn(mirrored):
    """Six tetrahedra along one diagonal of a cell, mirrored along the axes that say so."""
    for order in itertools.permutations(range(3)):
        corner, path = np.zeros(3, int), [np.zeros(3, int)]
        for axis in order:
            corner = corner.copy()
            corner[axis] = 1
            path.append(corner)
        yield [tuple(1 - x if m else x for x, m in zip(p, mirrored)) for p in path]


def five(odd):
    """A regular tetrahedron in the middle and four at alternating corners."""
    even = [[(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(1, 1, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1)],
            [(1, 0, 1), (1, 0, 0), (0, 0, 1), (1, 1, 1)], [(0, 1, 1), (0, 1, 0), (0, 0, 1), (1, 1, 1)],
            [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]]
    return [[(1 - a if odd else a, b, c) for a, b, c in t] for t in even]


def grid(kind, refine):
    counts = [int(LENGTH) * refine, int(SIDE) * refine, int(SIDE) * refine]
    number = lambda i, j, k: (i * (counts[1] + 1) + j) * (counts[2] + 1) + k
    nodes = np.array(list(itertools.product(*(range(n + 1) for n in counts))), float) / refine
    tets = []
    for i, j, k in itertools.product(*(range(n) for n in counts)):
        if kind == "six, one diagonal":
            cell = kuhn((0, 0, 0))
        elif kind == "six, mirrored":
            cell = kuhn((i % 2, j % 2, k % 2))
        else:
            cell = five((i + j + k) % 2)
        tets += [[number(i + a, j + b, k + c) for a, b, c in t] for t in cell]
    return nodes, np.array(tets)


def body_centred(h):
    """Tetrahedra between neighbouring cell centres and an edge of their common face; half pyramids outside."""
    counts = [round(LENGTH / h), round(SIDE / h), round(SIDE / h)]
    number = lambda p: (p[0] * (counts[1] + 1) + p[1]) * (counts[2] + 1) + p[2]
    nodes = [np.array(p) * h for p in itertools.product(*(range(n + 1) for n in counts))]
    centres = {}
    for cell in itertools.product(*(range(n) for n in counts)):
        centres[cell] = len(nodes)
        nodes.append((np.array(cell) + 0.5) * h)
    tets = []
    for cell, centre in centres.items():
        for axis, up in itertools.product(range(3), (0, 1)):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            ring = []
            for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                p = list(cell)
                p[axis] += up
                p[b] += u
                p[c] += v
                ring.append(number(p))
            other = list(cell)
            other[axis] += 2 * up - 1
            other = centres.get(tuple(other))
            if other is None:
                tets += [[centre, ring[0], ring[1], ring[2]], [centre, ring[0], ring[2], ring[3]]]
            elif up:
                tets += [[centre, other, ring[e], ring[(e + 1) % 4]] for e in range(4)]
    return np.array(nodes), np.array(tets)


def stiffness(nodes, tets, nu):
    lam, mu = nu / ((1 + nu) * (1 - 2 * nu)), 0.5 / (1 + nu)
    law = np.zeros((6, 6))
    law[:3, :3] = lam
    law[range(3), range(3)] += 2 * mu
    law[range(3, 6), range(3, 6)] = mu
    corners = nodes[tets]
    edges = np.stack([corners[:, i] - corners[:, 0] for i in (1, 2, 3)], 2)
    gradients = np.linalg.inv(edges)
    gradients = np.concatenate([-gradients.sum(1, keepdims=True), gradients], 1)
    strain = np.zeros((len(tets), 6, 12))
    for a in range(4):
        g, c = gradients[:, a], 3 * a
        for row, column, axis in ((0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 0, 1), (3, 1, 0), (4, 1, 2), (4, 2, 1),
                                  (5, 0, 2), (5, 2, 0)):
            strain[:, row, c + column] = g[:, axis]
    volumes = np.abs(np.linalg.det(edges)) / 6
    elements = np.einsum("eia,ij,ejb,e->eab", strain, law, strain, volumes)
    dofs = (3 * tets[:, :, None] + np.arange(3)).reshape(len(tets), 12)
    rows, columns = np.repeat(dofs, 12, 1).ravel(), np.tile(dofs, (1, 12)).ravel()
    return sparse.csc_matrix((elements.ravel(), (rows, columns)), shape=(3 * len(nodes),) * 2)


def tip_weights(nodes, tets):
    weights, tip = np.zeros(len(nodes)), nodes[:, 0] > LENGTH - 1e-9
    for t in tets:
        face = [v for v in t if tip[v]]
        if len(face) == 3:
            a, b, c = nodes[face]
            weights[face] += np.linalg.norm(np.cross(b - a, c - a)) / 6
    return weights / weights.sum()


def report(name, nodes, tets):
    for nu in (0.3, 0.45):
        matrix, weights = stiffness(nodes, tets, nu), tip_weights(nodes, tets)
        free = np.repeat(nodes[:, 0] > 1e-9, 3)
        factor = splu(matrix[free][:, free])

        def solve(force):
            moved = np.zeros(3 * len(nodes))
            moved[free] = factor.solve(force.ravel()[free])
            return moved.reshape(-1, 3)

        inertia, shear = SIDE**4 / 12, 0.5 / (1 + nu)
        bend = LENGTH**3 / (3 * inertia) + LENGTH / (5 / 6 * shear * SIDE**2)
        shares = []
        for direction in ((0, 1, 0), (0, 0, 1), (0, 0.5**0.5, 0.5**0.5), (0, 0.5**0.5, -(0.5**0.5))):
            shares.append(weights @ solve(np.outer(weights, direction)) @ direction / bend)
        arm = nodes - [0, SIDE / 2, SIDE / 2]
        force = np.stack([0 * weights, -weights * arm[:, 2], weights * arm[:, 1]], 1)
        torque = (arm[:, 1] * force[:, 2] - arm[:, 2] * force[:, 1]).sum()
        moved = solve(force)
        twist = weights @ (moved[:, 2] * arm[:, 1] - moved[:, 1] * arm[:, 2])
        twist /= weights @ (arm[:, 1] ** 2 + arm[:, 2] ** 2)
        shares.append(twist / (torque * LENGTH / (shear * 0.1406 * SIDE**4)))
        shares.append(weights @ solve(np.outer(weights, (1, 0, 0)))[:, 0] / (LENGTH / SIDE**2))
        print(f"{name:18} nu {nu:4} {len(nodes):5} nodes {len(tets):6} tetrahedra {matrix.nnz / 9 / len(nodes):5.1f}"
              " neighbours  bend " + " ".join(f"{s:.3f}" for s in shares[:4]) +
              f"  twist {shares[4]:.3f}  pull {shares[5]:.3f}", flush=True)


if __name__ == "__main__":
    for refine in (1, 2):
        for kind in ("six, one diagonal", "six, mirrored", "five, alternating"):
            report(kind, *grid(kind, refine))
        report("body-centred", *body_centred(4 / 3 / refine))
