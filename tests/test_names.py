"""Names and texts keep the rules of tools/check_names.py."""

import sys

import pytest

import check_names

EXAMPLES = {
    check_names.VAGUE_NAME: ["found = 1", "def f(own): pass", "[one for one in ()]", "g = lambda *such: 1"],
    check_names.PARTICIPLE: ["def measured(): pass", "def _built(): pass", "def brought_back(): pass"],
    check_names.PERSON: ["x = 1  # for who" + "ever reads", 'y = "no' + 'body"'],
    check_names.A_FOR_PER: ['"""One row' + ' a view."""', "x = 1  # two passes, one pass" + " a round"],
    check_names.THE_SAME: ['def f():\n    """The same' + ' for rows."""'],
}
COUNTEREXAMPLES = [
    "founder = 1\nself.found = 2\nprint(own)",
    "def embed(): pass\n\ndef seed_all(): pass\n\nclass A:\n    def measured(self): pass",
    "@property\ndef measured(): pass",
    'x = "a row and a view"',
    'def f():\n    """Like the same rows."""',
]


@pytest.mark.parametrize(("rule", "code"), [(rule, code) for rule, codes in EXAMPLES.items() for code in codes])
def test_violations_are_found(rule, code, tmp_path):
    (tmp_path / "module.py").write_text(code, encoding="utf-8")
    assert len(check_names.find_places(tmp_path)[rule]) == 1


@pytest.mark.parametrize("code", COUNTEREXAMPLES)
def test_other_code_is_accepted(code, tmp_path):
    (tmp_path / "module.py").write_text(code, encoding="utf-8")
    places = check_names.find_places(tmp_path)
    assert not any(places.values()), places


def test_names_defined_in_several_files_are_found(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(
            "def run(): pass\n\ndef main(): pass" if name == "first" else "def run(): pass"
        )
    assert check_names.find_places(tmp_path)[check_names.DUPLICATE] == ["run: first.py, second.py"]


def test_exceeded_limit_is_an_error(tmp_path, monkeypatch, capsys):
    (tmp_path / "module.py").write_text("found = 1")
    monkeypatch.setattr(check_names, "LIMITS", {str(tmp_path): (0,) * len(check_names.RULES)})
    monkeypatch.setattr(sys, "argv", ["check_names.py"])
    assert check_names.main() == 1
    shown = capsys.readouterr().out
    assert "module.py:1 found" in shown
    assert "1 vague names of variables, at most 0 allowed" in shown


def test_every_folder_of_python_files_has_limits():
    folders = {path.relative_to(check_names.ROOT).parts[0] for path in check_names.ROOT.glob("*/**/*.py")}
    visible = {folder for folder in folders if not folder.startswith((".", "build", "demo", "reproduced"))}
    assert visible == {folder.split("/")[0] for folder in check_names.LIMITS}
