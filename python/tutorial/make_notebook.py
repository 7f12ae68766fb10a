"""tutorial.py → tutorial.ipynb: cells begin at `# %%`, those of text at `# %% [markdown]`.

    /usr/bin/python3 python/tutorial/make_notebook.py python/tutorial/tutorial.py python/tutorial/tutorial.ipynb
"""

import json
import re
import sys
from pathlib import Path


def cells_of(script: str):
    for number, part in enumerate(re.split(r"^# %%", script, flags=re.M)[1:]):
        head, body = part.split("\n", 1)
        text = "[markdown]" in head
        lines = body.strip("\n").split("\n")
        if text:
            lines = [re.sub(r"^# ?", "", line) for line in lines]
        cell = {"cell_type": "markdown" if text else "code", "id": f"cell-{number}", "metadata": {},
                "source": [line + "\n" for line in lines[:-1]] + lines[-1:]}
        yield cell if text else {**cell, "execution_count": None, "outputs": []}


def main(script: Path, notebook: Path) -> None:
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}, "language_info": {"name": "python"}}
    content = {"cells": list(cells_of(script.read_text(encoding="utf-8"))), "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
