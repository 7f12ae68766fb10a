"""Docstrings run, stubs say what there is, calls cost little and leak nothing, the tutorial runs."""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import spnn
import pytest
import torch
from conftest import ENVIRONMENT, ROOT, random
from spnn import _spnn

sys.path.insert(0, str(ROOT / "bench"))
import python_calls  # noqa: E402

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


def test_a_call_costs_less_than_50_microseconds():
    more = python_calls.overhead(python_calls.tiny(), random(1, 2, 4, 4))
    assert more < 50e-6, f"{1e6 * more:.1f} µs"


def test_memory_is_flat_over_ten_thousand_calls():
    assert python_calls.growth(python_calls.tiny(), random(1, 2, 4, 4), random(1, 3, 2, 2)) < 1000


def test_pip_installs_it_and_the_tutorial_runs(tmp_path):
    """What is built already is installed: SPNN_BUILD saves the compiler's work, not pip's."""
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
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=cwd, env={**ENVIRONMENT, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_notebook_is_the_tutorial(tmp_path):
    tools = ROOT / "python" / "tutorial"
    made = tmp_path / "tutorial.ipynb"
    subprocess.run([sys.executable, str(tools / "make_notebook.py"), str(tools / "tutorial.py"), str(made)], check=True)
    assert made.read_text() == (tools / "tutorial.ipynb").read_text()


def test_the_pages_example_is_the_file_and_runs(tmp_path, face_prior):
    example = (ROOT / "python" / "examples" / "edit_photo.py").read_text()
    for page in ("docs/python.md", "README.md"):
        assert f"```python\n{example}```" in (ROOT / page).read_text(), page
    (tmp_path / "models").symlink_to(ROOT / "models")
    spnn.write_image(tmp_path / "photo.png", spnn.sample(face_prior, 1, steps=8, seed=11)[0])
    run([sys.executable, "-c", example.replace("seed=3", "seed=3, steps=5")], cwd=tmp_path)
    assert spnn.read_image(tmp_path / "smiling.png").shape == (3, 64, 64)
