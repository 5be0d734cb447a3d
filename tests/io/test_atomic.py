import pytest

from contrastive_fuse import InputError
from contrastive_fuse.io.atomic import check_replaceable, whole_file, whole_files, whole_folder


def content(folder):
    """Every file below a folder with what it holds, and every empty folder."""
    return {
        str(path.relative_to(folder)): path.read_text() if path.is_file() else None
        for path in folder.rglob("*")
        if path.is_file() or not any(path.iterdir())
    }


class TestFile:
    def test_takes_its_place(self, tmp_path):
        with whole_file(tmp_path / "a.txt") as partial:
            partial.write_text("new")
            assert content(tmp_path).get("a.txt") is None
        assert content(tmp_path) == {"a.txt": "new"}

    def test_replaces_the_old(self, tmp_path):
        (tmp_path / "a.txt").write_text("old")
        with whole_file(tmp_path / "a.txt") as partial:
            partial.write_text("new")
        assert content(tmp_path) == {"a.txt": "new"}

    @pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
    def test_a_failure_leaves_the_old_and_nothing_else(self, tmp_path, error):
        (tmp_path / "a.txt").write_text("old")
        with pytest.raises(error), whole_file(tmp_path / "a.txt") as partial:
            partial.write_text("half")
            raise error
        assert content(tmp_path) == {"a.txt": "old"}

    def test_parents_are_made(self, tmp_path):
        with whole_file(tmp_path / "b" / "c" / "a.txt") as partial:
            partial.write_text("new")
        assert content(tmp_path) == {"b/c/a.txt": "new"}

    def test_a_folder_is_not_replaced(self, tmp_path):
        (tmp_path / "a.txt").mkdir()
        with pytest.raises(InputError, match="is a folder; expected a file name"), whole_file(tmp_path / "a.txt"):
            pass
        assert content(tmp_path) == {"a.txt": None}

    def test_a_parent_that_is_a_file(self, tmp_path):
        (tmp_path / "b").write_text("keep")
        with pytest.raises(InputError, match="cannot write to"), whole_file(tmp_path / "b" / "a.txt"):
            pass
        assert content(tmp_path) == {"b": "keep"}


class TestFiles:
    def test_all_appear(self, tmp_path):
        with whole_files([tmp_path / "a", tmp_path / "b"]) as (a, b):
            a.write_text("1")
            b.write_text("2")
        assert content(tmp_path) == {"a": "1", "b": "2"}

    def test_none_appears_after_a_failure(self, tmp_path):
        (tmp_path / "b").write_text("old")
        with pytest.raises(OSError), whole_files([tmp_path / "a", tmp_path / "b"]) as (a, b):
            a.write_text("1")
            b.write_text("2")
            raise OSError
        assert content(tmp_path) == {"b": "old"}


class TestFolder:
    def write(self, path, text="new"):
        with whole_folder(path, "marker") as folder:
            (folder / "marker").write_text(text)

    def test_appears(self, tmp_path):
        self.write(tmp_path / "m")
        assert content(tmp_path) == {"m/marker": "new"}

    def test_replaces_its_like_whole(self, tmp_path):
        self.write(tmp_path / "m", "old")
        (tmp_path / "m" / "extra").write_text("old")
        self.write(tmp_path / "m")
        assert content(tmp_path) == {"m/marker": "new"}

    def test_fills_an_empty_folder(self, tmp_path):
        (tmp_path / "m").mkdir()
        self.write(tmp_path / "m")
        assert content(tmp_path) == {"m/marker": "new"}

    def test_a_failure_leaves_the_old_and_nothing_else(self, tmp_path):
        self.write(tmp_path / "m", "old")
        with pytest.raises(OSError), whole_folder(tmp_path / "m", "marker") as folder:
            (folder / "marker").write_text("half")
            raise OSError
        assert content(tmp_path) == {"m/marker": "old"}

    def test_foreign_content_is_never_replaced(self, tmp_path):
        (tmp_path / "m").mkdir()
        (tmp_path / "m" / "thesis.tex").write_text("dear")
        with pytest.raises(InputError, match=r"other content \(no marker in it\); it is not replaced"):
            self.write(tmp_path / "m")
        assert content(tmp_path) == {"m/thesis.tex": "dear"}

    def test_a_file_is_never_replaced(self, tmp_path):
        (tmp_path / "m").write_text("dear")
        with pytest.raises(InputError, match="is a file; expected a folder"):
            self.write(tmp_path / "m")
        assert content(tmp_path) == {"m": "dear"}

    def test_can_be_checked_before_the_work(self, tmp_path):
        check_replaceable(tmp_path / "new", "marker")
        (tmp_path / "other").write_text("dear")
        with pytest.raises(InputError, match="other content"):
            check_replaceable(tmp_path, "marker")
