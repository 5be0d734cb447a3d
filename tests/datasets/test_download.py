"""Downloads end to end, against a server on this machine that behaves as servers do."""

import gzip
import hashlib
import io
import re
import tarfile
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from contrastive_fuse import Graph, InputError, load_dataset
from contrastive_fuse.datasets import DATASETS, Dataset, Patience, find
from contrastive_fuse.datasets.base import Download, Facts, Files, Source
from contrastive_fuse.datasets.download import fetch, unpack

CONTENT = "".join(f"{i},{i + 1}\n" for i in range(40_000)).encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
QUICK = Patience(timeout=0.4, attempts=3, pause=0.01)


class Server:
    """Serves what a test puts into ``files``; ``mishaps`` are used up one a request, then all goes well."""

    def __init__(self):
        self.files, self.mishaps, self.requests, self.version, self.ranges = {}, [], [], '"1"', True
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                outer.requests.append((self.path, self.headers.get("Range")))
                mishap = outer.mishaps.pop(0) if outer.mishaps else None
                if isinstance(mishap, int) or self.path not in outer.files:
                    self.send_error(mishap or 404)
                    return
                content, start = outer.files[self.path], 0
                wanted = self.headers.get("Range")
                if wanted and outer.ranges and self.headers.get("If-Range") == outer.version:
                    start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
                if start > len(content):
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(content) - start))
                if outer.version:
                    self.send_header("ETag", outer.version)
                self.end_headers()
                rest = content[start:]
                if mishap == "cut":
                    rest = rest[: len(rest) // 2]
                if mishap == "slow":
                    self.wfile.write(rest[:100])
                    self.wfile.flush()
                    time.sleep(1.5)
                    return
                self.wfile.write(rest)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = Server()
    server.files["/edges.csv"] = CONTENT
    yield server
    server.server.shutdown()
    server.server.server_close()


def read_edges(folder):
    try:
        first, second = np.loadtxt(folder / "edges.csv", delimiter=",", dtype=int).T
    except ValueError:
        raise InputError("edges.csv is no table of numbers") from None
    return Dataset("line", Graph.from_edges(first, second), np.zeros(len(first) + 1, np.int32))


@pytest.fixture
def source(server, no_data, monkeypatch):
    """A data set of one file, registered as any other."""
    files = Files(("line",), ("edges.csv",), (Download(f"{server.url}/edges.csv", "edges.csv", SHA256),), read_edges)
    source = Source("line", "a long line", "none", "http://example.org", Facts(40_001, 40_000), 0.5, files)
    monkeypatch.setitem(DATASETS, "line", source)
    return source


def with_downloads(source, *downloads, needed=("edges.csv",)):
    return replace(source, files=replace(source.files, downloads=downloads, needed=needed))


def left(cache):
    """Files in the cache besides locks."""
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file())


def nothing_half_done(source, cache):
    assert find(source) is None
    assert not (cache / "raw").exists() or not list((cache / "raw").iterdir())
    assert all(name.startswith("partial/line/") for name in left(cache))


def test_a_good_file(server, source, no_data):
    steps = []
    data = load_dataset("line", progress=steps.append, patience=QUICK)
    assert (data.graph.n_nodes, data.graph.n_edges) == (40_001, 40_000)
    assert data.info["licence"] == "none"
    assert left(no_data) == ["raw/line/edges.csv"]
    assert [path.name for path in no_data.iterdir()] == ["raw"]
    assert (no_data / "raw" / "line" / "edges.csv").read_bytes() == CONTENT
    assert steps[-1] == ("edges.csv", len(CONTENT), len(CONTENT))
    assert find(source).place.named_by == "cache"

    load_dataset("line", patience=QUICK)
    assert len(server.requests) == 1  # the second time it is there


def test_what_is_there_is_not_downloaded(server, source, no_data, tmp_path, monkeypatch):
    (tmp_path / "mine" / "raw" / "line").mkdir(parents=True)
    (tmp_path / "mine" / "raw" / "line" / "edges.csv").write_bytes(b"0,1\n1,2\n")
    assert load_dataset("line", data_dir=tmp_path / "mine").graph.n_edges == 2
    monkeypatch.setenv("CFUSE_DATA", f"{tmp_path / 'empty'}:{tmp_path / 'mine'}")
    assert load_dataset("line").graph.n_edges == 2
    assert not server.requests


def test_downloading_may_be_forbidden(server, source, no_data):
    with pytest.raises(InputError, match=r"line is in none of .*cache, and downloading is not allowed"):
        load_dataset("line", download=False)
    assert not server.requests


def test_wrong_checksum(server, source, no_data):
    server.files["/edges.csv"] = CONTENT.replace(b"7", b"8")
    with pytest.raises(
        InputError, match=f"does not have the expected checksum .SHA-256 {SHA256}; got .*Without network"
    ):
        load_dataset("line", patience=QUICK)
    assert left(no_data) == []
    nothing_half_done(source, no_data)
    server.files["/edges.csv"] = CONTENT
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


def test_a_cut_connection_is_resumed(server, source, no_data):
    server.mishaps = ["cut", "cut"]
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000
    wanted = [part for _, part in server.requests]
    half, three_quarters = len(CONTENT) // 2, len(CONTENT) // 2 + (len(CONTENT) - len(CONTENT) // 2) // 2
    assert wanted == [None, f"bytes={half}-", f"bytes={three_quarters}-"]
    assert left(no_data) == ["raw/line/edges.csv"]


def test_the_next_command_resumes(server, source, no_data):
    server.mishaps = ["cut"] * 3
    with pytest.raises(InputError, match=r"the connection was cut after .* bytes.*Without network"):
        load_dataset("line", patience=QUICK)
    nothing_half_done(source, no_data)
    received = sum(path.stat().st_size for path in (no_data / "partial" / "line").glob("*.part"))
    assert received > 0.8 * len(CONTENT)
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000
    assert server.requests[-1][1] == f"bytes={received}-"
    assert left(no_data) == ["raw/line/edges.csv"]


def test_an_interrupt_is_resumed(server, source, no_data, monkeypatch):
    monkeypatch.setattr("contrastive_fuse.datasets.download.BLOCK", 1 << 16)

    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_dataset("line", progress=interrupt, patience=QUICK)
    nothing_half_done(source, no_data)
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000
    assert server.requests[-1][1] == f"bytes={1 << 16}-"


def test_a_file_that_changed_meanwhile_is_received_anew(server, source, no_data):
    server.files["/edges.csv"], server.mishaps = b"0,5\n" * 50_000, ["cut"] * 3
    with pytest.raises(InputError):
        load_dataset("line", patience=QUICK)
    server.files["/edges.csv"], server.version = CONTENT, '"2"'
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


@pytest.mark.parametrize(("ranges", "version"), [(False, '"1"'), (True, None), (True, 'W/"1"')])
def test_servers_that_cannot_resume(server, source, no_data, ranges, version):
    server.ranges, server.version, server.mishaps = ranges, version, ["cut"]
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


def test_a_part_longer_than_the_file(server, source, no_data):
    server.mishaps = ["cut"] * 3
    with pytest.raises(InputError):
        load_dataset("line", patience=QUICK)
    (part,) = (no_data / "partial" / "line").glob("*.part")
    part.write_bytes(CONTENT + b"more")
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


def test_404_is_not_tried_again(server, source, no_data):
    server.files.clear()
    with pytest.raises(InputError) as refused:
        load_dataset("line", patience=QUICK)
    message = str(refused.value)
    assert f"{server.url}/edges.csv answers 404" in message
    assert f"bring line.npz or the folder line (from http://example.org) into {no_data}" in message
    assert "CFUSE_DATA or --data-dir" in message
    assert len(server.requests) == 1
    assert left(no_data) == []
    assert not (no_data / "partial").exists()


def test_a_busy_server_is_asked_again(server, source, no_data):
    server.mishaps = [503, 429]
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000
    assert len(server.requests) == 3


def test_a_slow_server_is_given_up_after_a_while(server, source, no_data):
    server.mishaps = ["slow"] * 3
    started = time.perf_counter()
    with pytest.raises(InputError, match=r"edges.csv: timed out.*Without network"):
        load_dataset("line", patience=QUICK)
    assert 3 * QUICK.timeout <= time.perf_counter() - started < 6
    nothing_half_done(source, no_data)
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


def test_no_server_at_all(server, source, no_data):
    server.server.shutdown()
    server.server.server_close()
    with pytest.raises(InputError, match=r"could not be downloaded: .*Connection refused.*Without network"):
        load_dataset("line", patience=QUICK)
    assert left(no_data) == []


def test_what_cannot_be_read_is_not_kept_where_no_checksum_vouches(server, source, no_data):
    unchecked = with_downloads(source, Download(f"{server.url}/edges.csv", "edges.csv"))
    server.files["/edges.csv"] = b"<html>please log in</html>"
    with pytest.raises(InputError, match=r"what was downloaded of line is of no use: edges.csv is no table of numbers"):
        fetch(unchecked, patience=QUICK)
    assert left(no_data) == []
    nothing_half_done(unchecked, no_data)


def test_one_file_of_several_missing_leaves_nothing_half_done(server, source, no_data):
    two = with_downloads(source, *source.files.downloads, Download(f"{server.url}/labels.csv", "labels.csv"))
    with pytest.raises(InputError, match=r"labels.csv answers 404"):
        fetch(two, patience=QUICK)
    nothing_half_done(two, no_data)
    server.files["/labels.csv"] = b"0\n"
    fetch(two, patience=QUICK)
    assert left(no_data) == ["raw/line/edges.csv", "raw/line/labels.csv"]
    assert [path for path, _ in server.requests].count("/edges.csv") == 1  # kept from the first attempt


def test_two_processes_do_not_mix(server, source, no_data):
    fcntl = pytest.importorskip("fcntl", reason="this system has no file locks to test")
    lock = no_data / "partial" / "line.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is downloading line; wait for it"):
            load_dataset("line", patience=QUICK)
    assert load_dataset("line", patience=QUICK).graph.n_edges == 40_000


def zipped(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/"), content)
    return buffer.getvalue()


def tarred(*members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_archives(server, source, no_data, kind):
    if kind == "zip":
        server.files["/all"] = zipped(line__edges_csv=CONTENT, line__raw__x=b"1", other__y=b"2").replace(
            b"edges_csv", b"edges.csv"
        )
    else:
        names = ("line/edges.csv", CONTENT), ("line/raw/x", b"1"), ("other/y", b"2")
        server.files["/all"] = tarred(*((tarfile.TarInfo(name), content) for name, content in names))
    packed = with_downloads(source, Download(f"{server.url}/all", ".", inside="line"))
    fetch(packed, patience=QUICK)
    assert left(no_data) == ["raw/line/edges.csv", "raw/line/raw/x"]
    assert load_dataset("line").graph.n_edges == 40_000


def test_an_archive_without_what_is_needed(server, source, no_data):
    server.files["/all"] = zipped(line__other=b"1")
    with pytest.raises(InputError, match=r"is of no use: it lacks edges.csv"):
        fetch(with_downloads(source, Download(f"{server.url}/all", ".", inside="line")), patience=QUICK)
    assert left(no_data) == []


@pytest.mark.parametrize("name", ["../evil", "line/../../evil", "/evil", "C:/evil", "..\\evil", "line\\..\\..\\evil"])
def test_archives_cannot_write_outside_their_folder(tmp_path, name):
    (tmp_path / "x.zip").write_bytes(zipped(**{"line/good": b"1", name: b"2"}))
    (tmp_path / "x.tar.gz").write_bytes(tarred((tarfile.TarInfo(name), b"2")))
    for archive in ("x.zip", "x.tar.gz"):
        (tmp_path / "out").mkdir(exist_ok=True)
        with pytest.raises(InputError, match="leads out of its folder"):
            unpack(tmp_path / archive, "line", tmp_path / "out" / "deep" / "deeper")
    assert not list(tmp_path.rglob("evil"))


def test_links_and_devices_in_archives_are_refused(tmp_path):
    link = tarfile.TarInfo("line/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    (tmp_path / "x.tar.gz").write_bytes(tarred((link, b"")))
    with pytest.raises(InputError, match="holds a link or device, 'line/link'"):
        unpack(tmp_path / "x.tar.gz", "line", tmp_path / "out")
    info = zipfile.ZipInfo("line/link")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match="holds a link, 'line/link'"):
        unpack(tmp_path / "x.zip", "line", tmp_path / "out")


def test_an_archive_that_swells_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("contrastive_fuse.datasets.download.SLACK", 1000)
    (tmp_path / "x.zip").write_bytes(zipped(line__bomb=bytes(50_000_000)))
    with pytest.raises(
        InputError, match=r"x\.zip would unpack to far more than its size: 'line/bomb' has 50,000,000 bytes"
    ):
        unpack(tmp_path / "x.zip", "line", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_garbage_is_no_archive(tmp_path):
    (tmp_path / "x.zip").write_bytes(gzip.compress(b"nothing packed"))
    with pytest.raises(InputError, match=r"x\.zip is not a readable archive"):
        unpack(tmp_path / "x.zip", "line", tmp_path / "out")
