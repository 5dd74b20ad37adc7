"""Use pairs of entities that are known to belong together or apart."""

import numpy as np
from sklearn.datasets import load_iris

import consilience as cs

flowers, species = load_iris(return_X_y=True)
views = cs.Views({"sepal": flowers[:, :2], "petal": flowers[:, 2:]})

# In practice a person answers; here the true species do.
answers = cs.Constraints.sample(species, 30, random_state=0)
print(answers)

without = cs.Consilience(n_clusters=3, random_state=0).fit(views)
model = cs.Consilience(n_clusters=3, random_state=0).fit(views, constraints=answers)
for title, labels in {"without constraints": without.labels_, "with 30 constraints": model.labels_}.items():
    print(f"{title}: adjusted Rand index {cs.metrics.adjusted_rand_score(species, labels):.2f}")

# Which pairs should be asked next? The ones that are most uncertain.
single = cs.PCKMeans(n_clusters=3, init="farthest", random_state=0).fit(flowers, constraints=answers)
pairs = cs.suggest_constraints(single, flowers, 5)
print("ask about these pairs:", np.asarray(pairs).tolist())
