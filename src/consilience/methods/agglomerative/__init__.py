"""Multi-view agglomerative clustering (Bickel & Scheffer 2004)."""
