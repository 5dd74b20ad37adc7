"""Links of the pages to files that are no pages of the site: they become links to the repository.

A link to a folder or file outside of ``docs/``, such as ``../CONTRIBUTING.md``, leads to the file in the repository of
`repository_url`, where `repository_docs` is the folder of the pages. A link to a file that does not exist is a warning.

`repository_pages` names pages of the site that show files of the repository. With ``{"examples": "gallery/index"}``, a
link to ``../examples`` leads to the gallery, and a link to ``../examples/digits.py`` to its page ``gallery/digits``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)


class LinkToRepository(SphinxTransform):
    """Replace links to files outside of the site, before Sphinx copies the files as downloads."""

    default_priority = 9

    def apply(self, **_: Any) -> None:
        """Replace the links of one page."""
        docs = Path(self.config.repository_docs)
        folder = docs.joinpath(*self.env.docname.split("/")[:-1])
        for link in [
            *self.document.findall(addnodes.download_reference),
            *self.document.findall(addnodes.pending_xref),
        ]:
            target = link.get("reftarget", "")
            if link.get("reftype") != "myst" or not target:
                continue
            path = (folder / target.partition("#")[0]).resolve()
            if link.get("refdomain") == "doc":  # a Markdown file, whose ending MyST removes
                path = path.with_name(f"{path.name}.md")
            if path.is_relative_to(docs) or not path.is_relative_to(docs.parent):
                continue
            if not path.exists():
                logger.warning("link to a file that does not exist: %s", target, location=link, type="repository_links")
                continue
            link.replace_self(self._make_link(path.relative_to(docs.parent), path.is_dir(), link))

    def _make_link(self, path: Path, is_folder: bool, link: nodes.Element) -> nodes.Element:
        """Return a link to the page that shows a file, or else to the repository."""
        pages = self.config.repository_pages
        page = pages.get(path.as_posix())
        if page is None and path.suffix == ".py" and path.parent.as_posix() in pages:
            page = f"{pages[path.parent.as_posix()].rpartition('/')[0]}/{path.stem}"
        if page is not None:
            reference = addnodes.pending_xref(
                "", refdomain="std", reftype="doc", refdoc=self.env.docname, refexplicit=True, reftarget=f"/{page}"
            )
        else:
            kind = "tree" if is_folder else "blob"
            url = f"{self.config.repository_url}/{kind}/{self.config.repository_branch}/{path.as_posix()}"
            reference = nodes.reference("", "", refuri=url, internal=False)
        reference.extend(link.children)
        return reference


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transform and its settings."""
    app.add_config_value("repository_docs", "", "env")
    app.add_config_value("repository_url", "", "env")
    app.add_config_value("repository_branch", "main", "env")
    app.add_config_value("repository_pages", {}, "env")
    app.add_transform(LinkToRepository)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
