"""
Cluster numpy arrays
====================

Handwritten digits are described by several blocks of features. Each block is a numpy array with the same rows. An
estimator of consilience is used like one of scikit-learn, but takes all blocks at once.
"""

import matplotlib.pyplot as plt

import consilience as cs
from consilience.plot import JointMapDisplay

# %%
# **The views** are Fourier coefficients of the shape (`fou`), correlations of the outline (`fac`) and the pixels
# (`pix`) of the same images. 500 of the 2,000 digits are enough here. The true digits are only used to check the
# result.

views, digits = cs.datasets.load_digits_views()
blocks = {name: views[name][::4] for name in ("fou", "fac", "pix")}
digits = digits[::4]
print({name: block.shape for name, block in blocks.items()})

# %%
# **Fit.** `Consilience` is the default method: it looks for clusters that every view can predict.

model = cs.Consilience(n_clusters=10, random_state=0).fit(blocks)
print("clusters of every 50th image:", model.labels_[::50])
print("their confidence:", model.confidence_[::50].round(2))
print("agreement with the digits (NMI):", round(cs.metrics.normalized_mutual_info_score(digits, model.labels_), 2))

# %%
# **Which views support the clusters?** A view whose share is near 0 would say nothing about them.

print(model.view_information_)

# %%
# **New images** may lack views. Here they are assigned by their pixels only.

print("predicted from pixels alone:", model.predict({"pix": blocks["pix"][::50]}))

# %%
# **The map** is drawn from all views.

JointMapDisplay.from_estimator(model, blocks)
plt.show()
