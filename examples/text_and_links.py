"""
Cluster documents by words and links
====================================

Documents are described by the words they use and the documents they link to. Both are sparse counts. Two fifths of
the documents lack one of the two.
"""

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.plot import ContestedDisplay

# %%
# **The views** are two sparse matrices of counts. They are generated from four topics that share many words.

views, topics = cs.datasets.make_text_views(
    400, n_clusters=4, n_words=(300, 200), topic_share=0.22, missing=0.4, random_state=0
)
views = cs.Views({"words": views["view0"], "links": views["view1"]}, present=views.present)
print(views)

# %%
# **Fit.** Spherical k-means compares the directions of the rows, so the length of a document does not matter.

model = cs.MultiViewSphericalKMeans(n_clusters=4, random_state=0).fit(views)
complete = views.present.all(axis=1)
for title, rows in {"both views": complete, "one view": ~complete}.items():
    nmi = cs.metrics.normalized_mutual_info_score(topics[rows], model.labels_[rows])
    print(f"documents with {title}: {rows.sum()}, NMI {nmi:.2f}")

# %%
# **Do words and links agree?** `view_labels_` holds the clusters by each view alone; -1 marks documents that lack the
# view.

labels = model.view_labels_
print("words and links agree for", f"{np.mean(labels['words'][complete] == labels['links'][complete]):.0%}")

# %%
# **Which documents are contested?** The matrix counts documents by their cluster in each view. The documents below
# are the least certain of those on which the views disagree.

ContestedDisplay.from_estimator(model, views, n_least=8)
plt.show()

# %%
# **Can the clusters be relied on?** `assess` answers without the true topics.

print(cs.assess(model, views).headline)
