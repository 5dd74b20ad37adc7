"""What estimators that wrap another share."""

from __future__ import annotations

from typing import Any


def can_predict(wrapper: Any) -> bool:
    """Whether the wrapped estimator, fitted or not, gives new entities to clusters; says why if it does not."""
    estimator = getattr(wrapper, "estimator_", wrapper.estimator)
    if not hasattr(estimator, "predict"):
        raise AttributeError(
            f"{type(estimator).__name__} cannot give new entities to its clusters, so {type(wrapper).__name__} has "
            "no predict: use labels_, or an estimator that has predict"
        )
    return True
