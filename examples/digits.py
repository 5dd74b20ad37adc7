"""Cluster handwritten digits that are described by several blocks of features, given as numpy arrays."""

import consilience as cs

views, digits = cs.datasets.load_digits_views()
blocks = {name: views[name][::4] for name in ("fou", "fac", "pix")}  # three numpy arrays with the same 500 rows
digits = digits[::4]

model = cs.Consilience(n_clusters=10, random_state=0).fit(blocks)

print("clusters of every 50th entity:", model.labels_[::50])
print("their confidence:", model.confidence_[::50].round(2))
print("agreement with the digits (NMI):", round(cs.metrics.normalized_mutual_info_score(digits, model.labels_), 2))
print("\nHow well each view supports the clusters:")
print(model.view_information_)

# New entities may lack views: here digits are assigned by their pixels only.
print("\npredicted from pixels alone:", model.predict({"pix": blocks["pix"][::50]}))
