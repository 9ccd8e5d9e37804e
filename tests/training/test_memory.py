import subprocess
import sys

import pytest

PROGRAM = """
import resource, unbraid.training as training
import numpy as np
assert training.keep_freed_memory()
np.ones(3_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    np.ones(3_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_freed_memory_is_used_again_without_page_faults():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    # 24 MB are 5,859 pages each time if they are given back.
    assert int(done.stdout) < 2_000
