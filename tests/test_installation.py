"""What is installed: all of ours, on every supported Python, beside anything that an author has.

Every Chialisp project has a folder `games`, `channel` or `clsp` of its own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from tarfile import open as open_tar
from zipfile import ZipFile

import pytest

from tests.paths import ROOT

OWN = """import games
from channelsim.games import registry

def test_both_are_there(target):
    assert games.answer == 42
    assert target.name in registry.names()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project in which all of our names are packages of its own."""
    for name in ("games", "channel", "clsp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("answer = 42\n")
    (tmp_path / "conftest.py").write_text("import games, channel, clsp\n")
    (tmp_path / "test_own.py").write_text(OWN)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python as in that project, its folder first on the path."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_the_command_finds_its_own_packages(folder: Path) -> None:
    code = "from channelsim.channel.cli import main; main()"
    ran = run(folder, "-c", code, "games")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "spacepoker" in ran.stdout


def test_the_plugin_works_beside_them(folder: Path) -> None:
    plugin = "channelsim.channel.lab.testing.plugin"
    command = ["-m", "pytest", "-q", "-p", plugin, "--channelsim-target", "calpoker"]
    ran = run(folder, *command)
    assert ran.returncode == 0, ran.stdout
    assert "1 passed" in ran.stdout


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
FOLDERS = ("channel", "clsp", "games")


def tracked(*names: str) -> list[Path]:
    """The files of these folders, by their paths in the repository; what is generated left out."""
    listed = command("git", "ls-files", *names, cwd=ROOT)
    return [Path(line) for line in listed.stdout.splitlines()]


def command(*words: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the paths and options that this process was given."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [*map(str, words)],
        cwd=cwd,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_everything_of_ours_is_packaged() -> None:
    """Modules are in packages, and other files match a pattern; the long tests build it."""
    data: set[Path] = set()
    for package, patterns in PROJECT["tool"]["setuptools"]["package-data"].items():
        for pattern in patterns:
            if package == "*":
                data.update(file for name in FOLDERS for file in (ROOT / name).rglob(pattern))
            else:
                folder = ROOT.joinpath(*package.split(".")[1:])
                data.update(folder.glob(pattern))
    files = tracked(*FOLDERS)
    assert len(files) > 300
    left_out = [
        str(file)
        for file in files
        if ROOT / file not in data
        and not (file.suffix == ".py" and (ROOT / file.parent / "__init__.py").exists())
    ]
    assert left_out == []


@dataclass(frozen=True)
class Built:
    """The wheel and the source distribution of the sources, and the wheel made of the latter."""

    wheel: Path
    sources: Path
    again: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    tree = folder / "tree"
    for file in tracked():
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, tree / file, follow_symlinks=False)
    builder = environment(sys.executable, folder / "builder", "build")
    for kinds, out in ((["--wheel"], "direct"), ([], "by-sources")):
        made = command(builder, "-m", "build", *kinds, "--outdir", folder / out, tree, cwd=folder)
        assert made.returncode == 0, made.stdout + made.stderr
        shutil.rmtree(tree / "build", ignore_errors=True)
        shutil.rmtree(tree / "channelsim.egg-info", ignore_errors=True)
    (wheel,) = (folder / "direct").glob("*.whl")
    (again,) = (folder / "by-sources").glob("*.whl")
    (sources,) = (folder / "by-sources").glob("*.tar.gz")
    return Built(wheel, sources, again)


def environment(python: str, folder: Path, *packages: str) -> Path:
    """Make a virtual environment with these packages; its Python. Skips where there is none."""
    made = command(python, "-m", "venv", folder, cwd=folder.parent)
    assert made.returncode == 0, made.stderr
    inside = folder / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary")
    ran = command(inside, *install, ":all:", *packages, cwd=folder)
    if ran.returncode:
        pytest.skip(f"{python}: cannot install {packages}: {ran.stderr.strip().splitlines()[-1]}")
    return inside


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.long
def test_the_wheel_has_all_files_and_so_has_one_made_of_the_source_distribution(
    built: Built,
) -> None:
    files = contents(built.wheel)
    links = {f"channelsim/{name}" for name in FOLDERS}
    ours = {f"channelsim/{file}" for file in tracked(*FOLDERS)}
    ours |= {str(file) for file in tracked("channelsim")} - links
    assert {name for name in files if ".dist-info/" not in name} == ours
    assert contents(built.again) == files
    with open_tar(built.sources) as archive:
        members = archive.getmembers()
    assert not [one.name for one in members if one.issym() or one.islnk()]
    assert not [one.name for one in members if Path(one.name).parts[1:2] == ("tests",)]


def interpreter(version: str) -> str | None:
    """The Python of this version on this machine, found on the path or by pyenv."""
    name = f"python{version}"
    if shutil.which(name) is None:
        return None
    code = "import sys; print(sys.executable)"
    ran = command(name, "-c", code, cwd=ROOT, PYENV_VERSION=version)
    return ran.stdout.strip() if ran.returncode == 0 else None


@pytest.mark.long
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_it_works_installed_on_every_supported_python(
    version: str, built: Built, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version}")
    inside = environment(python, tmp_path_factory.mktemp(version) / "venv", f"{built.wheel}[lab]")
    ours = inside.parent / "channelsim"
    for words, said in (
        ((ours, "--version"), PROJECT["project"]["version"]),
        ((ours, "play", "spacepoker", "--hands", 1, "--seed", "x", "--text"), "── close ──"),
        ((inside, "-m", "pytest", "-q", "--channelsim-target", "calpoker"), "1 passed"),
    ):
        ran = command(*words, cwd=folder)
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        assert said in ran.stdout
