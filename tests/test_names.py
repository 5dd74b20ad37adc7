"""The tool that checks names and texts: what it prints, and which folders it covers."""

import sys

import check_names


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
