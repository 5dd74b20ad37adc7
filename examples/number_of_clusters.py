"""Choose the number of clusters without labels."""

import consilience as cs

views, topics = cs.datasets.make_text_views(300, n_clusters=4, topic_share=0.5, random_state=0)

selection = cs.select_n_clusters(cs.Consilience(random_state=0), views)
print(selection)  # the supported numbers, the reasons, and a table of all numbers that were tried

model = cs.Consilience(n_clusters=selection.n_clusters, random_state=0).fit(views)
print("chosen number:", selection.n_clusters)
print("NMI with the true topics:", round(cs.metrics.normalized_mutual_info_score(topics, model.labels_), 2))
