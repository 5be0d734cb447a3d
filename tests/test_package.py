"""The package as a whole: what it imports, when, and what it must do without."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import contrastive_fuse


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_is_light():
    loaded = json.loads(run("import json, sys, contrastive_fuse; print(json.dumps(list(sys.modules)))"))
    assert not {"numpy", "scipy", "sklearn", "numba", "pyarrow", "torch"} & set(loaded)


def test_core_needs_no_extra():
    """Embedding, scoring and saving with every optional package made unimportable."""
    code = """
import importlib.abc, sys, tempfile
class NotInstalled(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        extras = "torch", "torch_geometric", "matplotlib", "networkx", "pandas", "polars", "igraph", "gensim"
        if name.partition(".")[0] in extras:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NotInstalled())
from contrastive_fuse import ContrastiveFUSE, load_dataset, sample_pairs
data = load_dataset("digits")
pairs = sample_pairs(data.labels, 500, 0)
model = ContrastiveFUSE(8, random_state=0).fit(data.graph, pairs)
with tempfile.TemporaryDirectory() as folder:
    model.save(folder + "/m")
    print(ContrastiveFUSE.load(folder + "/m").score(pairs) > 0.8)
"""
    assert run(code).strip() == "True"


def test_public_names():
    for name in contrastive_fuse.__all__:
        assert getattr(contrastive_fuse, name) is not None
    assert set(contrastive_fuse.__all__) <= set(dir(contrastive_fuse))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = contrastive_fuse.nonsense


def test_version_is_one_place():
    assert contrastive_fuse.__version__ == "0.1.0"
    assert (Path(contrastive_fuse.__file__).parent / "py.typed").exists()


def test_compiled_code_is_kept_for_the_next_start(tmp_path):
    """The second process finds every kernel on disk, for this width and no other."""
    code = """
from contrastive_fuse import ContrastiveFUSE
from contrastive_fuse.kernels.numba import _compile
ContrastiveFUSE(24, max_iter=1).fit([(str(i), str(i + 1)) for i in range(9)])
stats = _compile(32, True).stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert run(code, **environment).split() == ["0", "1"]
    assert run(code, **environment).split() == ["1", "0"]
