"""The algorithms: arrays and building blocks in, one state a round out. No estimators here."""
