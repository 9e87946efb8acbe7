"""Writes trial1.csv to trial5.csv: a planar arm (docs/derivations/arm.md, a mass of 75 kg and 1.75 m, 0.2 N m s/rad) by
RK4 at 2.5 ms, torques held over 10 ms, angles in degrees. python3 trials.py FOLDER"""

import math
import os
import sys

VISCOSITY = 0.2
UPPER, FORE = (2.0325, 0.2832, 0.1634, 0.01179), (1.6725, 0.3569, 0.1825, 0.02252)  # kg, m, m to the centre, kg m^2
B = FORE[0] * UPPER[1] * FORE[2]
D = FORE[3] + FORE[0] * FORE[2] ** 2
A = UPPER[3] + UPPER[0] * UPPER[2] ** 2 + FORE[0] * UPPER[1] ** 2 + D


def slope(q1, q2, v1, v2, t1, t2):
    c, s = B * math.cos(q2), B * math.sin(q2)
    m11, m12, m22 = A + 2 * c, D + c, D
    r1 = t1 + s * v2 * (2 * v1 + v2) - VISCOSITY * v1
    r2 = t2 - s * v1 * v1 - VISCOSITY * v2
    det = m11 * m22 - m12 * m12
    return v1, v2, (m22 * r1 - m12 * r2) / det, (m11 * r2 - m12 * r1) / det


def trial(n, rate=100, seconds=4, steps=4):
    """Torques of two sines each, and a soft pull to the middle that keeps the arm in range."""
    x, h = [0.3, 1.2, 0.0, 0.0], 1 / rate / steps
    for i in range(rate * seconds + 1):
        t = i / rate
        wave = [1.2 * math.sin((3.1 + 0.7 * n + 1.3 * j) * t + n) + 0.8 * math.sin((5.3 - 0.4 * n) * t + 2 * j) for j in (0, 1)]
        held = (wave[0] - 4 * (x[0] - 0.5), 0.5 * wave[1] - 2 * (x[1] - 1.3))
        yield t, x[0], x[1], *held
        for _ in range(steps):
            k = []
            for c in (0, 0.5, 0.5, 1):
                k.append(slope(*([p + h * c * v for p, v in zip(x, k[-1])] if k else x), *held))
            x = [p + h / 6 * (a + 2 * b + 2 * c + d) for p, a, b, c, d in zip(x, *k)]


for n in range(1, 6):
    with open(os.path.join(sys.argv[1], f"trial{n}.csv"), "w") as file:
        file.write("time,shoulder,elbow,shoulder_torque,elbow_torque\n")
        for t, q1, q2, t1, t2 in trial(n):
            file.write(f"{t:.2f},{math.degrees(q1):.4f},{math.degrees(q2):.4f},{t1:.5f},{t2:.5f}\n")
