"""Co-trained spectral clustering (Kumar & Daumé 2011)."""
