import io
import sys

from unbraid.training._progress import ProgressBar

RECORD = {"step": 50, "total": 12.345, "active_latents": 3}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    bar = ProgressBar(100)
    bar.start({}, step=20, folder=None)
    bar.log(RECORD)
    bar.close()
    return stream.getvalue()


def test_the_bar_shows_loss_active_latents_and_how_far_it_is(monkeypatch):
    text = shown(Terminal(), monkeypatch)
    assert "50/100" in text
    assert "loss=12.35" in text or "loss=12.34" in text
    assert "active=3" in text


def test_there_is_no_bar_in_a_pipe(monkeypatch):
    assert shown(io.StringIO(), monkeypatch) == ""
