"""The programs of docs/agent.md run as they are."""

import re
from pathlib import Path

import torch

PAGE = (Path(__file__).parents[2] / "docs" / "agent.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_run(capsys):
    programs = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(programs) == 2
    names: dict = {}
    exec(compile("\n".join(programs), "docs/agent.md", "exec"), names)
    assert 50 <= names["result"].score <= 100
    assert "[50" in capsys.readouterr().out
    masks = names["masks"]
    assert masks.shape == (2, 4, 16, 16)
    torch.testing.assert_close(masks.sum(dim=1), torch.ones(2, 16, 16))
