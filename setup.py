"""Builds libspnn and the module _spnn by CMake for `pip install . --no-build-isolation`. What it is called is in pyproject.toml."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def require(ok: bool, expected: str, got: str) -> None:
    if not ok:
        raise SystemExit(f"pip install: expected {expected}, got {got} (HACKING.md lists the Debian packages)")


class CMakeBuild(build_ext):
    """In build/pip, or in SPNN_BUILD=FOLDER: a folder that CMake has configured already is taken as it is, so that nothing is compiled twice."""

    def built(self) -> Path:
        folder = Path(os.environ.get("SPNN_BUILD", ROOT / "build" / "pip")).absolute()
        if not (folder / "CMakeCache.txt").exists():
            subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSPNN_PYTHON=ON",
                            "-DSPNN_TESTS=OFF", "-DSPNN_BENCH=OFF", f"-DSPNN_PYTHON_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--target", "spnn_python"], check=True)
        return folder

    def build_extension(self, ext: Extension) -> None:
        try:
            import torch
        except ImportError:
            require(False, "an interpreter with torch (python3-torch) and --no-build-isolation", f"{sys.executable} without it")
        require(torch.__version__.startswith("1.13"), "torch 1.13, the one of libtorch-dev", f"torch {torch.__version__}")
        for program, package in (("cmake", "cmake"), ("ninja", "ninja-build"), ("c++", "g++")):
            require(shutil.which(program) is not None, f"the program {program} (package {package})", "none")
        folder = self.built()
        target = Path(self.get_ext_fullpath(ext.name)).parent
        target.mkdir(parents=True, exist_ok=True)
        for module in (folder / "python" / "spnn").glob("_spnn*.so"):
            shutil.copy(module, target)
        # The module looks for the library beside itself.
        shutil.copy(os.path.realpath(folder / "libspnn.so.0"), target / "libspnn.so.0")


version = re.search(r'define SPNN_VERSION "(.*)"', (ROOT / "src" / "spnn" / "version.h").read_text()).group(1)
setup(version=version, ext_modules=[Extension("spnn._spnn", sources=[])], cmdclass={"build_ext": CMakeBuild})
