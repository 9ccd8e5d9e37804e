"""The example in the README runs and prints what the README says."""

import re
import subprocess
import sys
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_example_prints_what_the_readme_says():
    program = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    expected = re.search(r"It prints\n\n```\n(.*?)```", README, re.DOTALL).group(1)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == expected


def test_every_file_that_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert links
    for link in links:
        assert (Path(__file__).parent.parent / link).exists(), link
