"""Multi-view EM and co-EM (Bickel & Scheffer 2004, 2005)."""
