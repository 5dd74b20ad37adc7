"""
Cluster patients who lack some measurements
===========================================

Three laboratories measured overlapping sets of patients. Most methods need every measurement of every patient;
consilience clusters each patient by the measurements that exist.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import consilience as cs
from consilience.explain import OriginalColumn
from consilience.plot import SurvivalDisplay

# %%
# **The data** are generated: 150 patients with one of three subtypes of a disease, which the analysis does not know.
# Each laboratory measured four of five patients.

rng = np.random.default_rng(0)
patients = [f"P{number:03}" for number in range(150)]
subtype = np.arange(150) % 3
tables = {}
for name, n_columns in {"genes": 40, "methylation": 30, "proteins": 20}.items():
    values = rng.normal(size=(3, n_columns))[subtype] + rng.normal(scale=1.5, size=(150, n_columns))
    table = pd.DataFrame(values, index=patients).add_prefix(f"{name}_")
    tables[name] = table.sample(frac=0.8, random_state=len(tables))

# %%
# **Views** are joined by the index of the tables. The column `present` says how many patients have a view.

views = cs.Views(tables)
print(views)
print("patients with all three:", views.present.all(axis=1).sum())

# %%
# **Fit.** A patient is clustered by the views that exist, and only these influence the clusters.

model = cs.Consilience(n_clusters=3, random_state=0).fit(views)
true = pd.Series(subtype, index=patients)[views.ids]
complete = views.present.all(axis=1)
for title, rows in {"complete": complete, "incomplete": ~complete}.items():
    score = cs.metrics.adjusted_rand_score(true[rows], model.labels_[rows])
    print(f"{rows.sum()} {title} patients: adjusted Rand index {score:.2f}")

# %%
# **Can the clusters be relied on?** `assess` answers without the true subtypes.

print(cs.assess(model, views).headline)

# %%
# **Do the clusters matter?** Survival was not used to find them, so a difference in survival supports them.

months = pd.Series(rng.exponential(12 + 24 * subtype).round(1), index=patients)[views.ids]
column = OriginalColumn("survival", months.to_numpy(), "number", unit="months", event=rng.random(len(months)) < 0.8)
SurvivalDisplay.from_labels(model.labels_, column)
plt.show()
