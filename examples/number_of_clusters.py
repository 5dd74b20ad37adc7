"""
Choose the number of clusters
=============================

The number of clusters is chosen without known classes: views should confirm the clusters of each other, and two
halves of the data should give the same clusters.
"""

import matplotlib.pyplot as plt

import consilience as cs
from consilience.plot import SelectionDisplay

# %%
# **The data** are 300 documents about four topics, described by two kinds of words.

views, topics = cs.datasets.make_text_views(300, n_clusters=4, topic_share=0.5, random_state=0)

# %%
# **Select.** The result names the supported numbers, the reasons, and the evidence for each number that was tried.

selection = cs.select_n_clusters(cs.Consilience(random_state=0), views)
print(selection)

# %%
# **The evidence** as a figure:

SelectionDisplay.from_selection(selection)
plt.show()

# %%
# **Fit** with the chosen number. The topics, which were not used so far, confirm it.

model = cs.Consilience(n_clusters=selection.n_clusters, random_state=0).fit(views)
print("chosen number:", selection.n_clusters)
print("NMI with the true topics:", round(cs.metrics.normalized_mutual_info_score(topics, model.labels_), 2))
