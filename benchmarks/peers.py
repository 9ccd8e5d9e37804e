"""Environments of the libraries we compare with, each installed from PyPI on its own.

A peer is measured in its own process, by a script of ours that uses it as its manual
says. Nothing of a peer is imported into unbraid or kept in the repository.
"""

import json
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
ENVIRONMENTS = FOLDER.parent / ".venv-peers"

# torch is pinned as in constraints.txt; disent pins nothing. Its dependency torchvision
# has no CPU build, so disent goes in without its dependencies, and the script that uses
# it stands in for the one function of torchvision that is called.
_DISENT = (
    ("torch==2.13.0", "numpy", "scipy", "h5py", "tqdm", "pillow", "requests",
     "matplotlib", "lightning", "scikit-learn"),
    ("--no-deps", "disent==0.8.0"),
)  # fmt: skip

# Its newest release is from 2019 and pins nothing, so the versions are those its code
# still runs with. It asks for TensorFlow, which none of the metrics measured here uses.
_DLIB = (
    ("gin-config==0.3.0", "numpy<2", "scipy<1.12", "scikit-learn<1.5", "absl-py", "six",
     "future", "simplejson", "pandas", "matplotlib", "pillow"),
    ("--no-deps", "disentanglement-lib==1.5"),
)  # fmt: skip

INSTALLS = {"disent": _DISENT, "dlib": _DLIB}
DISTRIBUTIONS = {"disent": "disent", "dlib": "disentanglement-lib"}

_ASK_VERSIONS = """
import json, platform, sys
from importlib.metadata import PackageNotFoundError, version
found = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def python_of(peer: str) -> Path:
    """Interpreter of a peer's environment, made on first use."""
    folder = ENVIRONMENTS / peer
    stamp = folder / "installed"
    if not stamp.exists():
        print(f"Installing {peer} into {folder} (once) ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for packages in INSTALLS[peer]:
            pip = [folder / "bin" / "pip", "install", "--quiet", *packages]
            subprocess.run(pip, check=True)
        stamp.touch()
    return folder / "bin" / "python"


def run_peer(peer: str, script: str, *arguments: str) -> dict:
    """Run a script of ours in a peer's environment; its last line of output is JSON."""
    command = [python_of(peer), FOLDER / script, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def versions_of(peer: str) -> dict[str, str]:
    """Versions in a peer's environment: its own by name, others as "disent's torch"."""
    name = DISTRIBUTIONS[peer]
    packages = (name, "torch", "numpy", "scikit-learn")
    command = [python_of(peer), "-c", _ASK_VERSIONS, *packages]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    of_peer = {f"{name}'s {package}": value for package, value in found.items()}
    return {name: of_peer.pop(f"{name}'s {name}")} | of_peer


def label_of(peer: str) -> str:
    """Name and version of a peer, for a table."""
    name = DISTRIBUTIONS[peer]
    return f"{name} {versions_of(peer)[name]}"
