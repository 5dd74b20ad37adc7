"""Multi-view k-means and spherical k-means (Bickel & Scheffer 2004)."""
