"""How far the label-free figures can be relied on: each is compared with the true classes of labelled sets."""
