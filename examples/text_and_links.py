"""Cluster documents by their words and links, where some documents lack the links."""

import numpy as np

import consilience as cs

# Two sparse matrices of counts; 40% of the documents lack one of the views.
views, topics = cs.datasets.make_text_views(400, n_clusters=4, n_words=(300, 200), missing=0.4, random_state=0)
views = cs.Views({"words": views["view0"], "links": views["view1"]}, present=views.present)
print(views)

model = cs.MultiViewSphericalKMeans(n_clusters=4, random_state=0).fit(views)
complete = views.present.all(axis=1)
for title, rows in {"both views": complete, "one view": ~complete}.items():
    nmi = cs.metrics.normalized_mutual_info_score(topics[rows], model.labels_[rows])
    print(f"documents with {title}: {rows.sum()}, NMI {nmi:.2f}")

# What each view says on its own; -1 marks documents that lack the view.
labels = model.view_labels_
print("words and links agree for", f"{np.mean(labels['words'][complete] == labels['links'][complete]):.0%}")

# A judgement without the true topics.
print(cs.assess(model, views).headline)
