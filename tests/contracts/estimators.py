"""Every estimator there is: a new one is picked up by one line here."""

from consilience import MultiViewKMeans, MultiViewSphericalKMeans

ESTIMATORS = [MultiViewKMeans, MultiViewSphericalKMeans]
