"""The folder that Sphinx reads: a copy of the pages, to which the gallery and the API reference are added."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from reference_names import read_reference
from sphinx.application import Sphinx
from sphinx.config import Config

COPIED = {".md", ".png", ".svg", ".csv"}
GENERATED = {"gallery"}  # folders
CHANGES = Path("changelog.md")
RELATIVE_LINK = re.compile(r"\]\((?!https?:|#)(docs/)?")


def copy_pages(source: Path, copy: Path) -> None:
    """Copy the pages that changed and the list of changes, and delete what is neither a page nor generated."""
    pages = {path.relative_to(source) for path in source.rglob("*") if path.suffix in COPIED}
    stubs = {Path("api", f"consilience.{name}.rst") for name in read_reference(source / "api" / "index.md")}
    for page in pages:
        original, target = source / page, copy / page
        if not target.exists() or original.stat().st_mtime != target.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(original, target)
    changes = (source.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    changes = RELATIVE_LINK.sub(lambda link: "](" if link[1] else "](../", changes)
    if not (copy / CHANGES).exists() or (copy / CHANGES).read_text(encoding="utf-8") != changes:
        (copy / CHANGES).write_text(changes, encoding="utf-8")
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        name = path.relative_to(copy)
        if name not in pages | stubs | {CHANGES} and name.parts[0] not in GENERATED:
            path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Copy the pages before any other extension looks for them."""

    def copy(app: Sphinx, config: Config) -> None:
        copy_pages(Path(config.repository_docs), Path(app.srcdir))

    app.connect("config-inited", copy, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
