"""Answers in a real browser: ``python -m benchmarks.workbench.browser RUN --labels COLUMN [--pictures FOLDER]``.

Chromium opens the workbench of a copy of the run, and a program answers by the known classes of the run, which the
page does not use for its questions. It prints the normalized mutual information before and after, and the seconds from
each answer until all maps show the new groups. Then random pairs are answered on another copy.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

import consilience as cs
from consilience.workbench.serve import RunningWorkbench

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
WAIT = 60_000  # milliseconds
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}


def open_page(browser: Any, url: str, size: str = "wide", color_scheme: str = "light") -> Page:
    """Open the workbench in a page and wait for its maps."""
    width, height = SIZES[size]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=color_scheme)
    page.on("pageerror", lambda error: print(f"error in the page: {error}"))
    page.goto(url)
    page.wait_for_selector("html[data-clustering]", timeout=WAIT)
    return page


def answer_in_page(page: Page, classes: np.ndarray, n_answers: int) -> list[float]:
    """Answer the questions of the page; return the seconds until the maps showed each answer."""
    page.click("#open-questions")
    seconds: list[float] = []
    previous = None
    for _ in range(n_answers):
        page.wait_for_selector(f"#question[data-pair]:not([data-pair='{previous}'])", timeout=WAIT)
        page.wait_for_selector("#answers:not([hidden])", timeout=WAIT)
        previous = page.get_attribute("#question", "data-pair")
        first, second = map(int, str(previous).split("-"))
        before = page.get_attribute("html", "data-clustering")
        is_same = classes[first] == classes[second]
        start = time.perf_counter()
        page.click("#answer-same" if is_same else "#answer-different")
        page.wait_for_selector(f"html:not([data-clustering='{before}'])", timeout=WAIT)
        seconds.append(time.perf_counter() - start)
    return seconds


def answer_random(running: RunningWorkbench, classes: np.ndarray, n_answers: int, seed: int) -> None:
    """Answer random pairs."""
    rng = np.random.default_rng(seed)
    for _ in range(n_answers):
        pair = rng.choice(len(classes), 2, replace=False).tolist()
        answer = "same" if classes[pair[0]] == classes[pair[1]] else "different"
        running.workbench.answer({"pair": pair, "answer": answer, "resolve": "newer"})
        running.workbench.wait_until_ready()


def copy_run(run: Path, folder: Path) -> cs.Result:
    """Copy a run without its decisions, and load it."""
    shutil.copytree(run, folder, ignore=shutil.ignore_patterns("decisions.*", ".workbench"))
    return cs.load_run(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of a run with known classes")
    parser.add_argument("--answers", type=int, default=20, help="number of answers (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        with RunningWorkbench(copy_run(options.run, Path(temporary) / "asked")) as running:
            page = open_page(browser, running.url)
            classes = np.asarray(running.workbench.opened.data.classes)
            before = running.workbench.describe_state()["scores"]["nmi"]
            seconds = answer_in_page(page, classes, options.answers)
            running.workbench.wait_until_ready()
            after = running.workbench.describe_state()["scores"]["nmi"]
            if options.pictures is not None:
                options.pictures.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=options.pictures / "asked.png")
        random_scores = []
        for seed in range(3):
            with RunningWorkbench(copy_run(options.run, Path(temporary) / f"random-{seed}")) as running:
                running.workbench.wait_until_ready()
                answer_random(running, classes, options.answers, seed)
                random_scores.append(running.workbench.describe_state()["scores"]["nmi"])
        browser.close()
    print(f"NMI {before:.3f} before, {after:.3f} after {options.answers} answers in the browser")
    print(f"NMI after as many random pairs: {', '.join(f'{score:.3f}' for score in random_scores)}")
    print(
        f"seconds until the maps show an answer: median {np.median(seconds):.2f}, "
        f"quartiles {np.quantile(seconds, 0.25):.2f} to {np.quantile(seconds, 0.75):.2f}, longest {max(seconds):.2f}"
    )


if __name__ == "__main__":
    main()
