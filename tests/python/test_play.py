"""Models played from Python: the bits of the C library, no copies, states, refusals."""

import ctypes

import numpy as np
import pytest

import limber
from limber import _native


def flesh_frame(model, n):
    j, i = np.arange(model.bone_count)[:, None], np.arange(12)[None, :]
    unit = np.where(i % 5 == 0, 1.0, 0.0)
    bones = (unit + 0.01 * ((7 * n + 3 * i + j) % 11)).astype(np.float32).reshape(-1, 3, 4)
    return bones, 0.02 if n % 3 == 0 else 0.015, (0.01 * n, 0.0, 0.02 * (n % 7)), (0.0, 0.125 * (n % 5), 0.0, 1.0)


def play_flesh(model, body, frames):
    out = []
    for n in frames:
        positions = body.step(*flesh_frame(model, n))
        out += [positions.copy(), body.normals.copy()]
    return b"".join(a.tobytes() for a in out)


def play_limb(model, body, frames):
    out = []
    i = np.arange(model.input_count)
    for n in frames:
        end = 0.125 * ((3 * n + i) % 7 - 3)
        body.step(0.125 * ((5 * n + 3 * i) % 7 - 3), 0.01, end if n % 2 == 0 else None)
        q, v = body.state()
        out += [q, v, np.array([body.trust])]
    return b"".join(a.tobytes() for a in out)


def test_structs_have_the_header_s_layout(reference):
    lines = [line.split() for line in reference("layout").decode().splitlines()]
    assert len(lines) > 40
    for name, offset, size in lines:
        struct, _, field = name.partition(".")
        declared = getattr(_native, struct)
        if field:
            entry = getattr(declared, field)
            assert (entry.offset, entry.size) == (int(offset), int(size)), name
        else:
            assert ctypes.sizeof(declared) == int(size), name
            fields = [n for n, *_ in lines if n.startswith(struct + ".")]
            assert len(fields) == len(declared._fields_), name


def test_every_call_of_the_headers_is_there():
    import os
    import pathlib
    import re

    text = "".join(p.read_text() for p in pathlib.Path(os.environ["SOURCE"], "include/limber").glob("*.h"))
    declared = set(re.findall(r"LMB_API [^;(]*?(lmb\w+)\(", text))
    assert declared == set(_native._SIGNATURES)


@pytest.mark.parametrize("version", [1, 2])
def test_flesh_steps_are_those_of_c(reference, flesh_path, version):
    path = flesh_path.with_name(f"flesh-{version}.safetensors")
    model = limber.FleshModel(path)
    expected = reference("flesh", path)
    assert len(expected) == 60 * 2 * 12 * model.vertex_count
    for kernels in limber.kernels():
        assert play_flesh(model, model.body(kernels=kernels), range(60)) == expected, kernels


@pytest.mark.parametrize("version", [1, 2])
def test_many_bodies_step_as_each_alone(flesh_path, version):
    model = limber.FleshModel(flesh_path.with_name(f"flesh-{version}.safetensors"))
    alone, together = [model.body() for _ in range(3)], [model.body() for _ in range(3)]
    for n in range(20):
        frames = [flesh_frame(model, n + 3 * i) for i in range(3)]  # of equal dt
        bones, dts, positions, rotations = zip(*frames)
        many = limber.step_many(together, bones, dts[0], positions, rotations)
        for i in range(3):
            assert np.array_equal(alone[i].step(*frames[i]), many[i]), (n, i)
            assert np.array_equal(alone[i].normals, together[i].normals), (n, i)
    with pytest.raises(limber.LimberError):
        limber.step_many(together, bones[:2], dts[0])
    with pytest.raises(limber.LimberError):
        limber.step_many([together[0]] * 2, bones[:2], dts[0])


def test_limb_steps_are_those_of_c(reference, limb_path):
    model = limber.LimbModel(limb_path)
    assert play_limb(model, model.body(), range(60)) == reference("limb", limb_path)


def test_nothing_is_copied(flesh_path):
    model = limber.FleshModel(flesh_path.read_bytes())
    body = model.body()
    bones, dt, position, rotation = flesh_frame(model, 0)
    first = body.step(bones, dt, position, rotation)
    second = body.step(flesh_frame(model, 5)[0], dt)
    assert first.ctypes.data == second.ctypes.data
    assert np.shares_memory(first, body._memory) and not first.flags.writeable
    assert np.shares_memory(model.bind, model._data) and model.bind.shape == (model.vertex_count, 3)
    assert body._pose.bones != bones.ctypes.data
    body.step(bones, dt)
    assert body._pose.bones == bones.ctypes.data
    kept = body.step(bones, dt)
    del body, model
    assert np.isfinite(kept).all()  # a view keeps its memory


def test_states_go_on_bit_for_bit(flesh_path, limb_path):
    flesh, limb = limber.FleshModel(flesh_path), limber.LimbModel(limb_path)
    for model, play in ((flesh, play_flesh), (limb, play_limb)):
        one, other = model.body(), model.body()
        play(model, one, range(20))
        state = one.save()
        after = play(model, one, range(20, 40))
        other.restore(state)
        assert play(model, other, range(20, 40)) == after
        with pytest.raises(limber.LimberError):
            other.restore(state[:-1])


def test_flesh_is_directed(flesh_path):
    model = limber.FleshModel(flesh_path)
    plain, still = model.body(), model.body(layer=limber.Layer.NONE)
    mute = model.body()
    mute.direct(gain=0.0)
    paused = model.body()
    for n in range(10):
        frame = flesh_frame(model, n)
        a, b, c = plain.step(*frame), still.step(*frame), mute.step(*frame)
        paused.pause()
        paused.step(*frame)
    assert np.abs(a - b).max() > 1e-4
    assert np.abs(c - b).max() < 1e-6
    gains = np.zeros(model.vertex_count)
    gains[:5] = 1.0
    plain.direct(vertex_gain=gains, acceleration=(0, -9.81, 0))
    plain.push((0, 1, 0))
    a, b = plain.step(*flesh_frame(model, 10)), still.step(*flesh_frame(model, 10))
    assert np.abs((a - b)[5:]).max() < 1e-6
    plain.teleport()
    plain.reset()
    rested = plain.step(*flesh_frame(model, 3))
    assert np.abs(rested - still.step(*flesh_frame(model, 3))).max() < 1e-6


def test_flesh_regions_sizes_sleep_and_blows(flesh_path):
    model = limber.FleshModel(flesh_path)
    small, large, hit = model.body(), model.body(), model.body()
    whole, regions = model.body(), model.body()
    whole.direct(gain=0.5, stiffness=2.0, damping=3.0)
    ones = np.ones(model.bone_count)
    regions.direct(bone_gain=0.5 * ones, bone_stiffness=2.0 * ones, bone_damping=3.0 * ones)
    for n in range(10):
        bones, dt, position, rotation = flesh_frame(model, n)
        a = small.step(bones, dt, position, rotation)
        b = large.step(bones, dt, np.multiply(position, 10.0), rotation, 10.0)
        assert np.abs(a - b).max() < 1e-5
        c, d = whole.step(bones, dt, position, rotation), regions.step(bones, dt, position, rotation)
        assert np.abs(c - d).max() < 1e-5
        hit.step(bones, dt, position, rotation)
    with pytest.raises(limber.LimberError):
        hit.direct(bone_damping=np.ones(model.bone_count + 1))
    frame = flesh_frame(model, 10)
    hit.strike(position, (50.0, 0.0, 0.0), 10.0)
    assert np.abs(hit.step(*frame) - small.step(*frame)).max() > 1e-5
    hit.sleep()
    shown = hit.step(*flesh_frame(model, 11)).copy()
    assert (shown == hit.step(*flesh_frame(model, 12))).all()
    hit.sleep(False)
    hit.appear()
    still = model.body(layer=limber.Layer.NONE)
    assert np.abs(hit.step(*frame) - still.step(*frame)).max() < 1e-6


def test_inverse_undoes_acceleration(limb_path):
    model = limber.LimbModel(limb_path)
    assert model.kind == limber.LimbKind.LAGRANGIAN
    body = model.body(integrator=limber.Integrator.IMPLICIT_MIDPOINT, max_step=0.002)
    q, v = 0.1 * np.arange(model.dof_count), 0.2 * np.ones(model.dof_count)
    u = np.linspace(-1, 1, model.input_count)
    body.start(q, v)
    a = body.acceleration(q, v, u)
    parts = body.inverse(q, v, a)
    total = parts.inertial + parts.interaction + parts.gravity + parts.viscous
    assert np.abs(parts.input - total).max() < 1e-6 * (1 + np.abs(total).max())
    into_q, into_v = np.empty(model.dof_count), np.empty(model.dof_count)
    body.state(into_q, into_v)
    assert (into_q == q).all() and (into_v == v).all()


def test_refusals_name_the_fault(tmp_path, flesh_path, limb_path):
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(flesh_path.read_bytes()[:1000])
    with pytest.raises(limber.LimberError, match="broken.safetensors") as caught:
        limber.FleshModel(broken)
    assert caught.value.status == limber.Status.CORRUPT
    with pytest.raises(limber.LimberError):
        limber.LimbModel(flesh_path)
    model = limber.FleshModel(flesh_path)
    body = model.body()
    with pytest.raises(limber.LimberError, match="3x4"):
        body.step(np.zeros((1, 3, 4)), 0.01)
    bones = flesh_frame(model, 0)[0]
    for dt in (-1.0, float("nan")):
        with pytest.raises(limber.LimberError):
            body.step(bones, dt)
    with pytest.raises(limber.LimberError, match="no kernels"):
        model.body(kernels="abacus")
    with pytest.raises(limber.LimberError):
        limber.LimbModel(limb_path).body(max_step=-1.0)
    limb = limber.LimbModel(limb_path)
    with pytest.raises(limber.LimberError, match="inputs"):
        limb.body().step(np.zeros(limb.input_count + 1), 0.01)
