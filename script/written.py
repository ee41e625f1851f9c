"""What can be said of the project's files as they are written: pins and sizes; changes none of them."""

import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

# The sizes of section 6 of the design, in lines, by a file's ending.
SIZES = {".py": 300, ".html": 150}
ANY_SIZE = ("migrations", "tests")
PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[\w,.-]+\])?==(?P<version>\S+)")
HASH = re.compile(r"^\s+--hash=sha256:[0-9a-f]{64}")
# Where packages come from is for the one who installs them to say.
ADDRESS = re.compile(r"://|\s@\s|^\s*(?:-i|-f|--(?:extra-)?index-url|--find-links|--trusted-host|--no-index)\b")


def requirements_at_fault(root: Path) -> list[str]:
    """A sentence for each line of the requirements that should not be there, and each pin that is missing."""
    pinned, wanted = sorted(root.glob("requirements*.txt")), sorted(root.glob("requirements*.in"))
    return [
        *(fault for path in [*pinned, *wanted] for fault in _addresses(path)),
        *(fault for path in pinned for fault in _unhashed(path)),
        *(fault for path in wanted for fault in _unpinned(path)),
        *_disagreements(root / "requirements.txt", root / "requirements-dev.txt"),
        *_contradictions(root / "requirements-dev.txt", root / "requirements-model.txt"),
    ]


def pins(path: Path) -> dict[str, str]:
    """The version that a file pins of each package, by the package's normal name."""
    found = map(PIN.match, path.read_text().splitlines() if path.is_file() else [])
    return {_normal(match["name"]): match["version"] for match in found if match}


def named(source: Path) -> list[str]:
    """The packages that a requirements*.in file names itself."""
    words = (re.match(r"[A-Za-z0-9][\w.-]*", line) for line in source.read_text().splitlines())
    return [_normal(word[0]) for word in words if word]


def _addresses(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if ADDRESS.search(line):
            yield f"{path.name}:{number} names a place to download from"


def _unpinned(source: Path) -> Iterator[str]:
    pinned = pins(source.with_suffix(".txt"))
    for name in named(source):
        if name not in pinned:
            yield f"{source.name} names {name}, which {source.stem}.txt does not pin: run script/requirements"


def _disagreements(runtime: Path, everything: Path) -> Iterator[str]:
    """script/test installs the second in place of the first, so it has to hold all of it."""
    of_everything = pins(everything)
    for name, version in pins(runtime).items():
        if of_everything.get(name) != version:
            yield f"{everything.name} does not pin {name}=={version} as {runtime.name} does"


def _contradictions(everything: Path, beside: Path) -> Iterator[str]:
    """Both are installed into one environment."""
    of_everything = pins(everything)
    for name, version in pins(beside).items():
        if of_everything.get(name, version) != version:
            yield f"{beside.name} pins {name}=={version}, and {everything.name} {of_everything[name]}"


def _unhashed(path: Path) -> Iterator[str]:
    lines = [line.rstrip(" \\") for line in path.read_text().splitlines()]
    for number, (line, after) in enumerate(pairwise([*lines, ""]), start=1):
        if not line.strip() or line.lstrip().startswith("#") or HASH.match(line):
            continue
        if not PIN.match(line):
            yield f"{path.name}:{number} is no pin of a package: {line.strip()}"
        elif not HASH.match(after):
            yield f"{path.name}:{number} pins without a hash: {line.strip()}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def files_over_their_size(root: Path) -> list[str]:
    """Each file of ours with more lines than make one stop and think, but for tests and migrations."""
    return [
        f"{path} has {lines} lines (think above {SIZES[path.suffix]})"
        for path in our_files(root)
        if path.suffix in SIZES and not set(path.parts) & set(ANY_SIZE)
        if (lines := len((root / path).read_bytes().splitlines())) > SIZES[path.suffix]
    ]


def our_files(root: Path) -> list[Path]:
    """The files that git keeps or would keep; without git, all but hidden folders."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return sorted(path for path in found if not any(part.startswith(".") for part in path.parts))
    return sorted(Path(name) for name in listed.split("\0") if name and (root / name).is_file())
