"""Docstrings run, stubs say what there is, calls cost little and leak nothing, the tutorial runs."""

import ast
import doctest
import gc
import importlib
import os
import pkgutil
import subprocess
import sys
import time
from pathlib import Path

import spnn
import pytest
import torch
from conftest import ROOT, random
from spnn import _spnn

MODULES = [name for _, name, _ in pkgutil.iter_modules(spnn.__path__) if not name.startswith("_spnn")]


@pytest.mark.parametrize("name", ["spnn"] + [f"spnn.{name}" for name in MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    names = {"torch": torch, "spnn": spnn, **vars(module)}
    assert doctest.testmod(module, extraglobs=names, optionflags=doctest.IGNORE_EXCEPTION_DETAIL).failed == 0


def test_stubs_say_what_there_is():
    tree = ast.parse((Path(spnn.__file__).parent / "_spnn.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    there = {name for name in dir(_spnn) if not name.startswith("_") and name != "version"}
    assert there == set(stubs)
    for name, node in stubs.items():
        if not isinstance(node, ast.ClassDef) or node.name in ("Error", "UsageError", "Interrupted"):
            continue
        said = {n.name if isinstance(n, ast.FunctionDef) else n.target.id for n in node.body if isinstance(n, (ast.FunctionDef, ast.AnnAssign))}
        found = {n for n in vars(getattr(_spnn, name)) if not n.startswith("__") or n in ("__len__", "__init__")}
        assert said - {"__init__"} == found - {"__init__"}, name


def test_everything_public_is_documented():
    for name in spnn.__all__:
        assert getattr(spnn, name).__doc__, name
    assert (Path(spnn.__file__).parent / "py.typed").exists()


def best_of(times, work):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def test_a_call_costs_less_than_50_microseconds(small):
    small.requires_grad_(False)
    x = random(1, 2, 4, 4)
    calls = 20   # few enough that some round is not interrupted on a busy machine
    with torch.no_grad():
        inside = best_of(100, lambda: small._network._forward_many(x, calls)) / calls
        outside = best_of(100, lambda: [small(x) for _ in range(calls)]) / calls
    assert outside - inside < 50e-6, f"{1e6 * (outside - inside):.1f} µs"


def resident_kilobytes():
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1])


def test_memory_is_flat_over_ten_thousand_calls(small):
    x, y = random(1, 2, 4, 4), random(1, 4)

    def calls(count):
        for _ in range(count // 10):
            small(x.requires_grad_(True)).sum().backward()   # with a graph
            with torch.no_grad():
                small.nlbp(x, y)
                for _ in range(8):
                    small(x)

    calls(1000)
    gc.collect()
    before = resident_kilobytes()
    calls(10_000)
    gc.collect()
    assert resident_kilobytes() - before < 2000


def test_pip_installs_it_and_the_tutorial_runs(tmp_path):
    """What is built already is installed: SPNN_BUILD leaves out the compiler, not pip."""
    build = Path(_spnn.__file__).resolve().parents[2]
    if not (build / "CMakeCache.txt").exists():
        pytest.skip(f"the package is not imported from a build: {_spnn.__file__}")
    source = tmp_path / "source"   # pip leaves its traces in the folder of the source
    source.mkdir()
    for name in ("setup.py", "pyproject.toml", "LICENSE", "src", "python"):
        (source / name).symlink_to(ROOT / name)
    site, out = tmp_path / "site", tmp_path / "pictures"
    run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", site, source],
        SPNN_BUILD=str(build))
    said = run([sys.executable, "-c", "import spnn; print(spnn.__file__, spnn.Spnn('fashion').verify().passed)"], cwd=tmp_path, PYTHONPATH=str(site))
    assert said.split() == [str(site / "spnn" / "__init__.py"), "True"]
    run([sys.executable, ROOT / "python" / "tutorial" / "tutorial.py", out, "--quick"], cwd=ROOT, PYTHONPATH=str(site))
    assert len(list(out.glob("*.png"))) == 7


def run(words, cwd=None, **environment):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_notebook_is_the_tutorial(tmp_path):
    tools = ROOT / "python" / "tutorial"
    made = tmp_path / "tutorial.ipynb"
    subprocess.run([sys.executable, str(tools / "make_notebook.py"), str(tools / "tutorial.py"), str(made)], check=True)
    assert made.read_text() == (tools / "tutorial.ipynb").read_text()


def test_the_page_s_example_is_the_file_and_runs(tmp_path, face_prior):
    example = (ROOT / "python" / "examples" / "edit_photo.py").read_text()
    assert f"```python\n{example}```" in (ROOT / "docs" / "python.md").read_text()
    (tmp_path / "models").symlink_to(ROOT / "models")
    spnn.write_image(tmp_path / "photo.png", spnn.sample(face_prior, 1, steps=8, seed=11)[0])
    subprocess.run([sys.executable, "-c", example.replace("seed=3", "seed=3, steps=5")], check=True, cwd=tmp_path, env=os.environ)
    assert spnn.read_image(tmp_path / "smiling.png").shape == (3, 64, 64)
