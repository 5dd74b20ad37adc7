"""
Use what is known about some pairs
==================================

Data can hold several groupings. A few pairs of entities that a person puts together, or keeps apart, say which one is
meant.
"""

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.plot import ConstraintsDisplay

# %%
# **The data** are 160 entities around the corners of a square, in two views. There are two
# equally good divisions: left and right, or top and bottom. The user wants left and right.

rng = np.random.default_rng(0)
is_right, is_top = rng.random((2, 160)) < 0.5
corners = 4.0 * np.column_stack([is_right, is_top])
views = cs.Views({name: corners + rng.normal(size=(160, 2)) for name in ("first", "second")})

# %%
# **Without answers** the clusters need not be the ones that the user wants.

model = cs.MultiViewConstrainedKMeans(n_clusters=2, random_state=0).fit(views)
print(f"without answers: adjusted Rand index {cs.metrics.adjusted_rand_score(is_right, model.labels_):.2f}")

# %%
# **Ask.** `suggest_constraints` proposes the pairs to ask about. Here the true classes answer in place of a person.

answers = cs.Constraints()
for _ in range(3):
    pairs = cs.suggest_constraints(model, views, 4)
    is_same = is_right[pairs[:, 0]] == is_right[pairs[:, 1]]
    answers |= cs.Constraints(pairs[is_same], pairs[~is_same])
    model.fit(views, constraints=answers)
print(answers)
print(f"with answers: adjusted Rand index {cs.metrics.adjusted_rand_score(is_right, model.labels_):.2f}")

# %%
# **Draw** the clusters: must-links are solid lines, cannot-links dashed ones, and a cross marks violated ones.

ConstraintsDisplay.from_estimator(model, views, answers)
plt.show()
