"""Archived models, and the C program that the package is compared with."""

import os
import pathlib
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ["SOURCE"])


@pytest.fixture(scope="session")
def flesh_path() -> pathlib.Path:
    return SOURCE / "tests" / "golden" / "flesh-1.safetensors"


@pytest.fixture(scope="session")
def limb_path() -> pathlib.Path:
    return SOURCE / "tests" / "golden" / "limb-1.safetensors"


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """reference( argument... ) -> what tests/python/reference.c says; its library is compiled from the sources."""
    program = tmp_path_factory.mktemp("c") / "reference"
    sources = sorted((SOURCE / "src" / "runtime").rglob("*.c"))
    flags = ["-std=c11", "-O1", "-ffp-contract=off", f"-I{SOURCE}/include", f"-I{SOURCE}/src/runtime"]
    command = ["cc", *flags, f"{SOURCE}/tests/python/reference.c", *map(str, sources), "-lm", "-o", str(program)]
    subprocess.run(command, check=True)

    def call(*arguments):
        return subprocess.run([str(program), *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout

    return call
