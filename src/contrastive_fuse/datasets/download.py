"""Fetching files from their official homes: with progress, resume, timeout, retry and checksum, whole or not at all.

What has arrived of a file is kept apart from the data (``partial/`` in the cache), so that the next attempt, or
the next command, goes on from there. A data set appears in the cache only when all of its files are there and sound.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import shutil
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from contrastive_fuse.datasets.base import Download, Files, Source
from contrastive_fuse.datasets.places import cache_folder, is_complete, official_folder
from contrastive_fuse.errors import InputError
from contrastive_fuse.io.atomic import whole_folder

BLOCK = 1 << 18
UNPACKED_AT_MOST = 50  # times the size of the archive, plus SLACK
SLACK = 1 << 28
HTTP_RANGE_REFUSED, HTTP_PARTIAL = 416, 206
AGAIN = {408, 425, 429, 500, 502, 503, 504}


class Transfer(NamedTuple):
    """What a progress callback is told now and then."""

    file: str
    received: int
    total: int | None


Progress = Callable[[Transfer], object]


class Patience(NamedTuple):
    """How long to wait for a server, and how often to ask again."""

    timeout: float = 30.0
    attempts: int = 5
    pause: float = 1.0  # before the second attempt; doubled every time


PATIENCE = Patience()


def fetch(source: Source, progress: Progress | None = None, patience: Patience = PATIENCE) -> Path:
    """Download the official files of a set into the cache and return their folder."""
    assert source.files is not None
    target = official_folder(source)
    if is_complete(target, source.files):
        return target
    waiting = cache_folder() / "partial" / source.name
    with _alone(waiting):
        try:
            received = [(one, _receive(one, waiting, progress, patience)) for one in source.files.downloads]
        except DownloadError as error:
            raise InputError(f"{source.name} could not be downloaded: {error}. {_without_network(source)}") from None
        try:
            with whole_folder(target, source.files.needed[0]) as folder:
                _put_together(source.files, received, folder)
        except InputError as error:
            raise InputError(f"what was downloaded of {source.name} is of no use: {error}") from None
        finally:
            shutil.rmtree(waiting, ignore_errors=True)  # used up, or unsound
    return target


def _put_together(files: Files, received: list[tuple[Download, Path]], folder: Path) -> None:
    """Lay out what was received as the official folder, and try whether it can be read where no checksum vouches."""
    for one, path in received:
        if one.inside is None:
            (folder / one.path).parent.mkdir(parents=True, exist_ok=True)
            path.replace(folder / one.path)
        else:
            unpack(path, one.inside, folder / one.path)
    missing = [name for name in files.needed if not (folder / name).is_file()]
    if missing:
        raise InputError(f"it lacks {', '.join(missing)}")
    if any(one.sha256 is None for one in files.downloads):
        files.read(folder)


class DownloadError(Exception):
    """A file could not be had; the message says why."""


def _without_network(source: Source) -> str:
    assert source.files is not None
    return (
        f"Without network, bring {source.name}.npz or the folder {source.files.folders[0]} (from {source.homepage})"
        f" into {cache_folder()}, or into a folder that CFUSE_DATA or --data-dir names"
    )


def _receive(one: Download, folder: Path, progress: Progress | None, patience: Patience) -> Path:
    """One whole, checked file in ``folder``; asks again where that may help."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(one.url.encode()).hexdigest()[:12]}-{one.url.rsplit('/', 1)[-1]}"
    if path.exists():
        return path
    part = path.with_name(path.name + ".part")
    for attempt in range(1, patience.attempts + 1):
        try:
            _transfer(one.url, part, progress, patience.timeout)
            break
        except (TimeoutError, ConnectionError, http.client.HTTPException, urllib.error.URLError) as error:
            if attempt == patience.attempts or not _worth_another(error):
                raise DownloadError(_reason(one.url, error)) from None
            time.sleep(patience.pause * 2 ** (attempt - 1))
    _check(one, part)
    part.replace(path)
    _validator(part).unlink(missing_ok=True)
    return path


def _check(one: Download, path: Path) -> None:
    if one.sha256 is None:
        return
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != one.sha256:
        path.unlink()
        _validator(path).unlink(missing_ok=True)
        raise DownloadError(f"{one.url} does not have the expected checksum (SHA-256 {one.sha256}; got {found})")


def _transfer(url: str, part: Path, progress: Progress | None, timeout: float) -> None:
    """Receive the rest of a file; ends early in an error, never in silence."""
    request = urllib.request.Request(url, headers={"User-Agent": "contrastive-fuse", "Accept-Encoding": "identity"})
    have = part.stat().st_size if part.exists() else 0
    validator = _validator(part)
    if have and validator.exists():
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", validator.read_text())
    else:
        have = 0
    try:
        response = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code == HTTP_RANGE_REFUSED:
            part.unlink()
            raise ConnectionError("the server no longer has the file that a part was received of") from None
        raise
    with response:
        if response.status != HTTP_PARTIAL:
            have = 0
        _remember(validator, response.headers)
        length = response.headers.get("Content-Length")
        total = have + int(length) if length is not None and length.isdecimal() else None
        _check_space(part, (total or 0) - have)
        with part.open("r+b" if have else "wb") as file:
            file.seek(have)
            while block := response.read(BLOCK):
                file.write(block)
                have += len(block)
                if progress is not None:
                    progress(Transfer(url.rsplit("/", 1)[-1], have, total))
    if total is not None and have < total:
        raise ConnectionError(f"the connection was cut after {have:,} of {total:,} bytes")


def _validator(part: Path) -> Path:
    """The file that remembers which version of a file a part belongs to."""
    return part.with_name(part.name + ".version")


def _remember(validator: Path, headers: Any) -> None:
    etag = headers.get("ETag")
    version = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified")
    if version:
        validator.write_text(version)
    else:
        validator.unlink(missing_ok=True)


def _worth_another(error: Exception) -> bool:
    return not isinstance(error, urllib.error.HTTPError) or error.code in AGAIN


def _reason(url: str, error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{url} answers {error.code} {error.reason}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return f"{url}: {reason or type(error).__name__}"


def _check_space(path: Path, wanted: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if wanted > free:
        raise InputError(f"{path.parent} has {free / 1e6:,.0f} MB of free space; {wanted / 1e6:,.0f} MB are needed")


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Make a folder to receive files in, for one process at a time; it goes again if nothing is left in it."""
    lock = folder.with_name(folder.name + ".lock")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_RDWR)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        if not _locked(handle):
            raise InputError(f"another process is downloading {folder.name}; wait for it")
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
            for path in (folder, folder.parent):
                with suppress(OSError):  # not empty: a part that was received waits for the next attempt
                    path.rmdir()
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take a lock that the system lets go of if we die; where there is no such thing, go without."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unpack(archive: Path, inside: str, folder: Path) -> None:
    """Unpack what lies in the folder ``inside`` of a zip or tar archive (or the file of that name) into ``folder``.

    Names that lead out of the folder, links and absurd sizes are refused.
    """
    budget = UNPACKED_AT_MOST * archive.stat().st_size + SLACK
    try:
        if tarfile.is_tarfile(archive):
            with tarfile.open(archive) as tar:
                for entry in _wanted(((member.name, member) for member in tar if not member.isdir()), inside):
                    if not entry.what.isfile():
                        raise InputError(f"{archive.name} holds a link or device, {entry.name!r}; it is not unpacked")
                    budget = _write(tar.extractfile(entry.what), entry, entry.what.size, folder, budget, archive)
            return
        with ZipFile(archive) as packed:
            members = [(info.filename, info) for info in packed.infolist() if not info.is_dir()]
            for entry in _wanted(members, inside):
                if entry.what.external_attr >> 28 == 0o12:  # a symbolic link
                    raise InputError(f"{archive.name} holds a link, {entry.name!r}; it is not unpacked")
                budget = _write(packed.open(entry.what), entry, entry.what.file_size, folder, budget, archive)
    except (BadZipFile, tarfile.TarError, EOFError, NotImplementedError) as error:
        raise InputError(f"{archive.name} is not a readable archive: {error}") from None


class _Entry(NamedTuple):
    name: str
    path: PurePosixPath  # below the folder to unpack to
    what: Any


def _wanted(members: Any, inside: str) -> Iterator[_Entry]:
    for name, what in members:
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise InputError(f"the archive holds a name that leads out of its folder: {name!r}")
        if path.parts[: len(PurePosixPath(inside).parts)] == PurePosixPath(inside).parts:
            below = path.relative_to(inside)
            yield _Entry(name, below if below.parts else PurePosixPath(path.name), what)


def _write(content: IO[bytes] | None, entry: _Entry, size: int, folder: Path, budget: int, archive: Path) -> int:
    """Copy one entry; returns what is left of the budget."""
    assert content is not None
    target = folder.joinpath(*entry.path.parts)
    if size > budget:
        raise InputError(f"{archive.name} would unpack to far more than its size: {entry.name!r} has {size:,} bytes")
    target.parent.mkdir(parents=True, exist_ok=True)
    _check_space(target, size)
    with content, target.open("wb") as file:
        shutil.copyfileobj(content, file, BLOCK)
    return budget - size
