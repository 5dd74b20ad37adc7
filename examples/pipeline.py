"""Scale each view and search for parameters with scikit-learn's Pipeline and GridSearchCV."""

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import consilience as cs

blocks, classes = cs.datasets.make_gaussian_views(300, n_clusters=3, separation=4, random_state=0)
views = cs.Views(dict(blocks.items()), ids=np.arange(300))

pipeline = make_pipeline(cs.PerView(StandardScaler()), cs.MultiViewKMeans(n_clusters=3, random_state=0))
print("clusters of new rows:", pipeline.fit(views[:250]).predict(views[250:])[:10])

# Known classes can choose parameters. The scorer looks them up by the ids, because search.fit(views, classes) would
# give them to MultiViewKMeans.fit, which learns from them. Do not choose n_clusters by the default score, which always
# prefers more clusters: use select_n_clusters.
search = GridSearchCV(
    pipeline,
    {"multiviewkmeans__init": ["k-means++", "random"], "multiviewkmeans__n_init": [1, 5]},
    scoring=lambda model, part: adjusted_rand_score(classes[part.ids], model.predict(part)),
    cv=3,
)
search.fit(views)
print("best parameters:", search.best_params_)
print(f"adjusted Rand index on held-out rows: {search.best_score_:.2f}")
