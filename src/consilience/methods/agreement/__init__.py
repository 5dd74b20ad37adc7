"""Cross-fitted agreement: each view predicts every entity's cluster from the other entities, and the views vote."""
