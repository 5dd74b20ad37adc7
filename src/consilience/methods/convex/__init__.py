"""Convex exemplar mixtures (Tzortzis & Likas 2010).

`estimator` is the entry, `inputs` prepares its views, `algorithm` learns the mixture with the solver in `proportions`
(Newton steps by `quadratic` for sparse solutions, by `conjugate` for dense ones, arithmetic in `components`),
`exemplars` assigns entities to clusters, and `kernel_kmeans` refines them. `select` keeps the views of largest weight.
"""
