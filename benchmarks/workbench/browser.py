"""Answers in a real browser: ``python -m benchmarks.workbench.browser RUN [--answers N] [--pictures FOLDER]``.

Chromium opens the workbench of a copy of the run, and a program answers by the known classes of the run, which the
page does not use for its questions. It prints the normalized mutual information before and after, and the seconds from
each answer until all maps show the new groups. Then random pairs are answered on other copies. With ``--pictures``, it
writes pictures of the page after the answers, in light and in dark colors, on a wide and on a narrow screen.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from itertools import product
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
WAIT = 300_000  # milliseconds after which a wait ends
PAINTING = 1500  # milliseconds until a picture is taken
HEIGHTS = {1280: 900, 390: 844}  # of a screen by its width
SCHEMES = ("light", "dark")


def open_page(browser: Any, url: str, width: int = 1280, **options: Any) -> Page:
    """Open the workbench in a page and wait for its maps."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHTS[width]}, **options)
    page.on("pageerror", lambda error: print(f"error in the page: {error}"))
    page.goto(url)
    page.wait_for_selector("html[data-clustering]", timeout=WAIT)
    return page


def answer_in_page(page: Page, classes: np.ndarray, n_answers: int) -> list[float]:
    """Answer the questions of the page, also if it says that asking can stop; return the seconds of each answer.

    They are the seconds until the maps showed what the answer changed.
    """
    page.click("#open-questions")
    seconds: list[float] = []
    previous = None
    while len(seconds) < n_answers:
        question = f"#question[data-pair]:not([data-pair='{previous}'])"
        page.wait_for_selector(f"{question}, #ask-anyway", timeout=WAIT)
        if page.is_visible("#ask-anyway"):
            page.click("#ask-anyway")
            continue
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


def take_pictures(browser: Any, running: RunningWorkbench, state: Any, folder: Path) -> None:
    """Write pictures of the groups, of a question, and of how far a decision reaches."""
    folder.mkdir(parents=True, exist_ok=True)
    address = running.url.partition("#")[0]
    for scheme, width in product(SCHEMES, HEIGHTS):
        page = open_page(browser, address, width, color_scheme=scheme, storage_state=state)

        def write_picture(name: str, page: Page = page, ending: str = f"{scheme}-{width}") -> None:
            page.wait_for_timeout(PAINTING)
            page.screenshot(path=folder / f"{name}-{ending}.png")

        is_narrow = page.is_visible("#small-tabs")
        write_picture("main")
        page.click("#small-tabs [data-tab=decisions]" if is_narrow else "#tab-decisions")
        page.locator("[data-do=reach]").first.click()
        page.wait_for_selector("#propagation:not([hidden])", timeout=WAIT)
        write_picture("propagation")
        page.click("#propagation-back")
        page.click("#small-tabs [data-tab=questions]" if is_narrow else "#open-questions")
        page.wait_for_selector("#question[data-pair], #ask-anyway", timeout=WAIT)
        if page.is_visible("#ask-anyway"):
            page.click("#ask-anyway")
        page.wait_for_selector("#question-gain", timeout=WAIT)
        write_picture("questions")
        page.close()


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
                take_pictures(browser, running, page.context.storage_state(), options.pictures)
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
