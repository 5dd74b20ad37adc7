"""Names and texts that try to become markup or code."""

import numpy as np
import scipy.sparse as sp

import consilience as cs
from consilience.data.inputs import ViewInput
from consilience.explain import OriginalColumn
from consilience.report import Report

SCRIPT = "<script>window.pwned=1</script>"
IMAGE = "<img src=x onerror='window.pwned=1'>"
ENDING = "</script><script>window.pwned=1</script>"
QUOTES = '"\'`onmouseover=window.pwned=1 x="'
BRACES = "{{7*7}} ${7*7} {% raw %} <%= 1 %>"
TURNED = "\u202egnihsihp\u202c \u05d0\u05d1\u05d2"
BROKEN = "a\x00b\x07c\ud800d\ue000\u2028e\r\nf\tg"
LONG = "long-" * 400
COMMENT = "<!-- <script> --> ]]> &lt;b&gt; &amp;"
ALL = (SCRIPT, IMAGE, ENDING, QUOTES, BRACES, TURNED, BROKEN, LONG, COMMENT)


def hostile_report():
    """Return a report in which all names of the user are hostile."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    ids = np.array([f"{ALL[i % len(ALL)]}{i}" for i in range(90)], dtype=object)
    columns = np.array(ALL, dtype=object)
    words = sp.csr_array(rng.poisson(0.2 + 2.0 * (np.arange(9) % 3 == y[:, None])).astype(float))
    numbers = ViewInput(rng.normal(size=(90, 9)) + 4 * y[:, None], ids, columns[::-1])
    views = cs.Views.from_inputs({SCRIPT + IMAGE: ViewInput(words, ids, columns), ENDING: numbers})
    model = cs.MultiViewKMeans(3, n_init=2, random_state=0).fit(views)
    return Report(
        model,
        views,
        title=ENDING + TURNED,
        labels=np.array([SCRIPT, IMAGE, ENDING], dtype=object)[y],
        comparison=cs.Table({IMAGE: [SCRIPT, ENDING], "nmi": [0.1, 0.2], SCRIPT: [QUOTES, IMAGE], LONG: [1.0, 2.0]}),
        command=f"consilience report '{ENDING}'\n  --title {SCRIPT} {BROKEN}",
        notes=[SCRIPT, ENDING, BROKEN, LONG],
        texts={SCRIPT: [IMAGE * (i % 5) for i in range(90)], ENDING: [None] * 45 + [TURNED] * 45},
        settings={SCRIPT: ENDING, QUOTES: IMAGE},
        columns=_describe(y, rng),
    )


def _describe(y, rng):
    """Return a column of each kind with a hostile name, and hostile categories and texts."""
    values = {
        "category": np.array(ALL, dtype=object)[rng.integers(0, len(ALL), len(y))],
        "text": np.array([f"{SCRIPT} {ENDING} {BROKEN} word{i}" for i in y], dtype=object),
        "number": y + rng.normal(size=len(y)),
        "date": 18_000.0 + y,
    }
    columns = [
        OriginalColumn(f"{name} {kind}", values[kind], kind, SCRIPT if kind == "number" else "", is_description=True)
        for name, kind in zip((SCRIPT, ENDING, BROKEN, LONG), values, strict=True)
    ]
    times = OriginalColumn(f"{QUOTES}/{IMAGE}", rng.exponential(5, len(y)), "number", is_description=True, event=y > 0)
    return [*columns, times]
