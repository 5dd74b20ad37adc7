"""Constrained clustering, of one view and across partly mapped views (Eaton, desJardins & Jacob 2010).

One view: `pck`, `mpck` and `cop` are the estimators, `pairwise` the algorithm, `neighborhoods` its starts,
`cluster_metrics` what it learns, `farthest` the search that the penalties need. Several views: `multiview` is the
estimator, `co_constrained` the algorithm, `base_clusterer` any estimator within it, `propagate` how constraints reach
other views. `suggest` proposes constraints.
"""
