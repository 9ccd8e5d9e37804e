"""The examples in the README run and print what the README says."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_examples_print_what_the_readme_says(tmp_path, monkeypatch, capsys):
    programs = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    outputs = re.findall(r"It prints\n\n```\n(.*?)```", README, re.DOTALL)
    assert len(programs) == len(outputs) == 2
    monkeypatch.chdir(tmp_path)
    exec(compile("".join(programs), "README.md", "exec"), {})
    assert capsys.readouterr().out == "".join(outputs)
    assert (tmp_path / "run" / "model.safetensors").is_file()


def test_every_file_that_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert links
    for link in links:
        assert (Path(__file__).parent.parent / link).exists(), link
