"""
Use scikit-learn's pipelines and searches
=========================================

Estimators of consilience work in scikit-learn's `Pipeline` and `GridSearchCV`. `PerView` applies a transformer of
scikit-learn to each view.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.plot import ContingencyDisplay

# %%
# **The data** are 300 entities in two views. The ids are needed below, to look up the class of a row.

blocks, classes = cs.datasets.make_gaussian_views(300, n_clusters=3, separation=4, random_state=0)
views = cs.Views(dict(blocks.items()), ids=np.arange(300))

# %%
# **A pipeline** scales each view, clusters, and predicts the clusters of new rows.

pipeline = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(n_clusters=3, random_state=0))
print("clusters of new rows:", pipeline.fit(views[:250]).predict(views[250:])[:10])

# %%
# **A search** chooses parameters by known classes. The scorer looks the classes up by the ids, because
# `search.fit(views, classes)` would give them to the estimator, which learns from them. Do not choose `n_clusters` by
# the default score, which always prefers more clusters: use `select_n_clusters`.


def score(model, part):
    """Compare the predicted clusters of held-out rows with their classes."""
    return adjusted_rand_score(classes[part.ids], model.predict(part))


parameters = {"multiviewkmeans__init": ["k-means++", "random"], "multiviewkmeans__n_init": [1, 5]}
search = GridSearchCV(pipeline, parameters, scoring=score, cv=3)
search.fit(views)
print("best parameters:", search.best_params_)
print(f"adjusted Rand index on held-out rows: {search.best_score_:.2f}")

# %%
# **Which classes are in which clusters?**

ContingencyDisplay.from_labels(classes, search.predict(views))
plt.show()
