#!/usr/bin/env python3
"""Writes tests/golden/tables/*.npy and *.npz with NumPy itself; tests/formats/test_numpy.c knows the values.

    python3 tests/golden/tables.py        (NumPy 2.4.6 made the files that are kept)

Real numbers are (4 r + c) / 8 - 1.5 in row r and column c, exact in every type; whole numbers 4 r + c - 3.
"""
import os

import numpy as np

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")
os.makedirs(folder, exist_ok=True)


def path(name):
    return os.path.join(folder, name)


r, c = np.mgrid[0:5, 0:3]
real = (4 * r + c) / 8 - 1.5
whole = 4 * r + c - 3

for kind in ("<f4", "<f8", ">f4", ">f8"):
    order = {"<": "little", ">": "big"}[kind[0]]
    np.save(path(f"{kind[1:]}-{order}.npy"), real.astype(kind))
    np.save(path(f"{kind[1:]}-{order}-fortran.npy"), np.asfortranarray(real.astype(kind)))
for kind in ("<i1", "<i2", "<i4", "<i8", ">i2", ">i4", ">i8"):
    order = {"<": "little", ">": "big"}[kind[0]]
    np.save(path(f"{kind[1:]}-{order}.npy"), whole.astype(kind))
np.save(path("u2.npy"), (whole + 3).astype("<u2"))
np.save(path("bool.npy"), whole % 2 == 0)
np.save(path("line.npy"), real[:, 1])
np.save(path("number.npy"), np.float64(2.5))
np.save(path("empty.npy"), np.zeros((0, 3)))
np.save(path("cube.npy"), np.zeros((2, 3, 4)))
np.save(path("complex.npy"), np.zeros(3, complex))
np.save(path("structured.npy"), np.zeros(3, [("t", "<f8"), ("q", "<f8", 2)]))
np.save(path("objects.npy"), np.array([None, 1], dtype=object), allow_pickle=True)
np.save(path("holes.npy"), np.array([[0, np.nan], [1, np.inf], [2, -np.inf], [3, 4]]))
np.save(path("large.npy"), np.array([2**53 + 1, -(2**63), 2**63 - 1], "<i8"))
np.save(path("channels.npy"), np.arange(3 * 300, dtype="<f4").reshape(3, 300))
for version in ((2, 0), (3, 0)):
    with open(path(f"version{version[0]}.npy"), "wb") as file:
        np.lib.format.write_array(file, real, version=version)

parts = dict(
    t=np.arange(5) / 100,
    q=real[:, :2],
    tau=np.asfortranarray(real[:, 1:].astype(">f4")),
    emg=real.T[:2],
    dt=np.float64(0.01),
    mass=np.array([1.5]),
    who=np.array(["me", "you"]),
    mvc=np.arange(7.0),
)
np.savez(path("stored.npz"), **parts)
np.savez_compressed(path("deflated.npz"), **parts)
np.savez(path("nothing.npz"))
np.savez(path("words.npz"), who=np.array(["me", "you"]))
# The best that deflate can do: an honest gain of about a thousand.
np.savez_compressed(path("zeros.npz"), q=np.zeros((100000, 10)))
