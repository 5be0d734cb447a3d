"""What the documentation shows is run, and what it links to is there."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, tmp_path):
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "people" / "model.json").exists()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:\s]+)\)", page.read_text())
    assert [target for target in links if not (page.parent / target).exists()] == []


def test_performance_page_is_rendered_from_the_stored_results():
    spec = importlib.util.spec_from_file_location("page", ROOT / "benchmarks" / "page.py")
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.PAGE.read_text() == page.render(), "run python benchmarks/page.py"


def test_readme_names_the_commands_that_exist():
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in set(re.findall(r"^\S*make (\w+)", text, re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"make {target}"


def test_architecture_page_shows_the_layers_that_are_checked():
    configured = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL)[1]
    modules = set(re.findall(r"\w+", configured))
    shown = re.search(r"```\ncli(.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.DOTALL)[0]
    missing = {name for name in modules if not re.search(rf"\b{name}\b", shown)}
    assert not missing
