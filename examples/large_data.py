"""
Cluster data that do not fit in memory
======================================

Large data can stay in files, arrive in batches, or be dask arrays on one or several machines. Each way is shown
with the same small data.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

import consilience as cs
from consilience.plot import ConvergenceDisplay

views, clusters = cs.datasets.make_gaussian_views(2000, n_clusters=3, n_features=(8, 5), separation=6, random_state=0)
order = np.random.default_rng(0).permutation(len(views))
views, clusters = views[order], clusters[order]

# %%
# **Files.** Memory maps of numpy are read in blocks; HDF5, zarr and Parquet files work alike.

with TemporaryDirectory() as folder:
    for name in views.names:
        np.save(Path(folder) / f"{name}.npy", views[name])
    mapped = {name: np.load(Path(folder) / f"{name}.npy", mmap_mode="r") for name in views.names}
    model = cs.MultiViewKMeans(n_clusters=3, random_state=0).fit(mapped)
    print(f"from files: adjusted Rand index {cs.metrics.adjusted_rand_score(clusters, model.labels_):.2f}")

# %%
# **Progress.** The cost and the agreement of the views after each pass over the files:

ConvergenceDisplay.from_estimator(model)
plt.show()

# %%
# **A stream.** `partial_fit` takes one batch at a time and does not keep it.

model = cs.MultiViewKMeans(n_clusters=3, random_state=0)
for start in range(0, len(views), 500):
    model.partial_fit(views[start : start + 500])
print(f"as a stream: adjusted Rand index {cs.metrics.adjusted_rand_score(clusters, model.predict(views)):.2f}")

# %%
# **Dask arrays.** Chunks are processed where they are, on threads or on the workers of a `Client`.

try:
    import dask.array as da
except ImportError:
    print("dask is not installed: pip install 'consilience[dask]'")
else:
    chunked = {name: da.from_array(views[name], chunks=(500, -1)) for name in views.names}
    model = cs.MultiViewKMeans(n_clusters=3, random_state=0).fit(chunked)
    print(f"with dask: adjusted Rand index {cs.metrics.adjusted_rand_score(clusters, model.labels_):.2f}")
