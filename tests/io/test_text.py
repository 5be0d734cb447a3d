import bz2
import gzip

import pytest

from contrastive_fuse import InputError, read_graph, read_pairs
from contrastive_fuse.io.files import read_ids
from contrastive_fuse.io.text import read_text


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


def rows_of(path, header="auto"):
    table = read_text(path, header).table
    return [tuple(row.values()) for row in table.to_pylist()]


class TestHeader:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("source,target\na,b\n", True),
            ("Source,TARGET\na,b\n", True),
            ("foo,bar\n1,2\n2,3\n", True),
            ("foo,bar,baz\na,b,1.5\n", True),
            ("source,target,weight\n", True),
            ("1,2\n2,3\n", False),
            ("x1,x2,0.5\nx2,x3,1\n", False),
            ("p,q\np,r\n", False),
            ("p,q\nr,p\n", False),
        ],
    )
    def test_told_from_the_content(self, write, text, expected):
        assert read_text(write(text)).has_header is expected

    @pytest.mark.parametrize(
        "text",
        [
            pytest.param("foo,bar\nx,y\n", id="nothing tells"),
            pytest.param("a,b\nb,c\n", id="known names that occur as ids"),
        ],
    )
    def test_not_guessed_where_it_could_be_either(self, write, text):
        with pytest.raises(InputError, match=r"cannot tell whether the first line .* --header no"):
            read_text(write(text))

    @pytest.mark.parametrize(("header", "n_rows"), [("yes", 1), ("no", 2)])
    @pytest.mark.parametrize("text", ["foo,bar\nx,y\n", "source,target\na,b\n", "1,2\n2,3\n"])
    def test_the_caller_decides(self, write, text, header, n_rows):
        assert len(rows_of(write(text), header)) == n_rows

    def test_a_column_named_twice_is_refused(self, write):
        with pytest.raises(InputError, match="names a column twice"):
            read_text(write("source,source\na,b\n"))

    @pytest.mark.parametrize("name", ["node", "id"])
    def test_of_a_list_of_nodes(self, write, name):
        assert read_ids(write(f"{name}\na\nb\n")).to_pylist() == ["a", "b"]


class TestDialects:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("source,target,weight\na,b,1.5\nb,c,2\n", "t.csv"),
            ("source,target,weight\na,b,1.5\nb,c,2", "t.csv"),
            ("source;target;weight\na;b;1.5\nb;c;2\n", "t.csv"),
            ("source\ttarget\tweight\na\tb\t1.5\nb\tc\t2\n", "t.tsv"),
            ("source target weight\na b 1.5\nb c 2\n", "t.txt"),
            ("  source   target weight \na  b   1.5\n\tb\tc\t2\n", "t.edges"),
            ("# note\n% note\nsource target weight\na b 1.5\n  # note\nb c 2\n# end", "t.txt"),
            ("source,target,weight\r\na,b,1.5\r\nb,c,2\r\n", "t.csv"),
            ("source target weight\r\n# note\r\na  b 1.5 \r\nb c 2\r\n", "t.txt"),
            ("\ufeffsource,target,weight\na,b,1.5\nb,c,2\n", "t.csv"),
            ("\n\nsource,target,weight\n\na,b,1.5\n\n\nb,c,2\n\n", "t.csv"),
            (" source , target ,weight\n a , b ,1.5\nb , c,2\n", "t.csv"),
            ('source,target,weight\n"a","b",1.5\n"b",c,2\n', "t.csv"),
            (gzip.compress(b"source,target,weight\na,b,1.5\nb,c,2\n"), "t.csv.gz"),
            (bz2.compress(b"source\ttarget\tweight\na\tb\t1.5\nb\tc\t2\n"), "t.tsv.bz2"),
        ],
    )
    def test_same_table(self, write, text, name):
        read = read_text(write(text, name))
        assert read.has_header
        assert read.table.column_names == ["source", "target", "weight"]
        assert [tuple(row.values()) for row in read.table.to_pylist()] == [("a", "b", "1.5"), ("b", "c", "2")]

    def test_quoted_fields_hold_anything(self, write):
        path = write('source,target\n"a, b","say ""hi"""\n', "t.csv")
        assert rows_of(path) == [("a, b", 'say "hi"')]

    def test_ids_stay_text(self, write):
        assert rows_of(write("source,target\n007,7\nNA,null\nnan,1e3\n")) == [
            ("007", "7"),
            ("NA", "null"),
            ("nan", "1e3"),
        ]

    def test_a_csv_has_no_comments(self, write):
        assert rows_of(write("source,target\n#a,%b\n")) == [("#a", "%b")]


class TestRaggedRows:
    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("source,target\na,b\nb,c,d\ne\n", "t.csv"),
            ("source target\na b\nb  c  d\n e\n", "t.txt"),
        ],
    )
    def test_lines_are_named(self, write, text, name):
        with pytest.raises(InputError, match=r"2 columns as the first has; line 3 has 3, line 4 has 1$"):
            read_text(write(text, name))

    def test_line_numbers_count_blank_lines_and_comments(self, write):
        with pytest.raises(InputError, match=r"; line 5 has 3$"):
            read_text(write("# note\n\n1 2\n\n2 3 4\n", "t.txt"))

    def test_many_are_counted(self, write):
        with pytest.raises(InputError, match=r"line 2 has 1, line 3 has 1, line 4 has 1 and 7 more$"):
            read_text(write("source,target\n" + "x\n" * 10))

    def test_too_few_columns(self, write):
        with pytest.raises(InputError, match=r"has 1 column\(s\); at least 2 are expected"):
            read_text(write("source\na\n"))


class TestUnreadable:
    @pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n"])
    def test_empty(self, write, text):
        with pytest.raises(InputError, match="the file is empty"):
            read_text(write(text))

    def test_only_comments(self, write):
        with pytest.raises(InputError, match="the file is empty"):
            read_text(write("# one\n# two\n", "t.txt"))

    def test_only_a_header(self, write):
        with pytest.raises(InputError, match=r"table\.csv: the file holds no edges"):
            read_graph(write("source,target\n"))

    @pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
    @pytest.mark.parametrize("text", ["source,target\nañ,b\n", "sourcé,target\na,b\n"])
    def test_not_utf8(self, write, text, encoding):
        with pytest.raises(InputError, match="not UTF-8 text"):
            read_text(write(text.encode(encoding)))

    @pytest.mark.parametrize("data", [b"source,target\na,b\n", gzip.compress(b"a,b\n" * 999)[:30]])
    def test_damaged_compression(self, write, data):
        with pytest.raises(InputError, match="cannot be read"):
            read_text(write(data, "t.csv.gz"))


class TestValuesAreNamedByLine:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("source,target\na,b\n,c\n", "column 'source' has no node id in line 3$"),
            ("source,target\n\na,b\n\nc,  \n", "column 'target' has no node id in line 5$"),
            ("source,target,weight\na,b,1\nb,c,x\n", "column 'weight' must hold numbers; line 3 holds 'x'$"),
            ("source,target,weight\na,b,\n", "column 'weight' must hold numbers; line 2 holds ''$"),
            ("source,target,weight\na,b,1_0\n", "line 2 holds '1_0'$"),
            ("source,target,weight\na,b,1\n\nb,c,-2\n", r"not negative, the first in line 4 \(-2\)"),
            ("source,target,weight\na,b,1\nb,c,nan\n", r"not finite .* the first in line 3 \(nan\)"),
            ("1,2,1\n2,3,inf\n", r"the first in line 2 \(inf\)"),
        ],
    )
    def test_edges(self, write, text, message):
        with pytest.raises(InputError, match=message):
            read_graph(write(text))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (
                "a,b,y\np,q,1\nq,r,0\n",
                r"1 row with neither, the first in line 3 \(0\); 0 is not read as unlike, use -1",
            ),
            ("a,b,y\np,q,1\nq,r,2\n", r"1 row with neither, the first in line 3 \(2\)$"),
            ("a,b,y\np,q,1\nq,r,no\n", "column 'y' must hold numbers; line 3 holds 'no'$"),
            (
                "a,b,y,weight\np,q,1,1\nq,r,1,0\n",
                r"must hold pair weights above 0; 1 are not, the first in line 3 \(0\)",
            ),
            ("a,b,y,weight\np,q,1,heavy\n", "line 2 holds 'heavy'$"),
            ("a,b,y\np,,1\n", "column 'b' has no node id in line 2$"),
        ],
    )
    def test_pairs(self, write, text, message):
        with pytest.raises(InputError, match=message):
            read_pairs(write(text))

    @pytest.mark.parametrize("number", ["1", "+1", "1.0", "+1.00", " 1 ", "1e0"])
    def test_every_way_to_write_a_sign(self, write, number):
        assert read_pairs(write(f"a,b,y\np,q,{number}\n")).y.tolist() == [1]
