"""Settings of the documentation site, which ``make docs`` builds with Sphinx."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import consilience

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "consilience"
author = "The consilience developers"
project_copyright = "The consilience developers"
version = release = consilience.__version__

# Links of the pages to files outside of docs/ become links to this repository.
REPOSITORY = "https://github.com/consilience-clustering/consilience"
repository_url = os.environ.get("CONSILIENCE_REPOSITORY", REPOSITORY).rstrip("/")
repository_branch = os.environ.get("CONSILIENCE_BRANCH", "main")
repository_docs = str(DOCS)
repository_pages = {
    "CHANGELOG.md": "changelog",
    "examples": "gallery/index",
}  # pages of the site that show files of the repository

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "site_source",
    "repository_links",
    "reference_pages",
    "reference_links",
    "command_pages",
]
exclude_patterns = ["papers/results/summary.md"]  # a table that the page papers.md shows
templates_path = [str(DOCS / "_templates")]
nitpicky = True
default_role = "py:obj"
suppress_warnings = ["config.cache"]  # the gallery's sort key is a class

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings name the types
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "run_stale_examples": True,  # also those that have not changed, because the package may have
    "within_subsection_order": "gallery_order.ReadingOrder",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1000,
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "thumbnail_size": (400, 280),
    "image_scrapers": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "consilience"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "consilience"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["version", "theme-switcher", "navbar-icon-links"],
    "icon_links": [{"name": "Source code", "url": repository_url, "icon": "fa-brands fa-github"}],
    "use_edit_page_button": repository_url != REPOSITORY,
    "show_toc_level": 2,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
}
html_context = {
    "edit_page_url_template": f"{repository_url}/edit/{repository_branch}/docs/{{{{ file_name }}}}",
    "default_mode": "auto",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

linkcheck_timeout = 20
linkcheck_ignore = [rf"{repository_url}/.*"]  # the pages' links to files of this repository are checked in the build
