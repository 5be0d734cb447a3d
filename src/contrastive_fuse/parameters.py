"""An estimator's parameters in scikit-learn's sense, without importing it: that alone takes longer than a small fit."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, Self

from contrastive_fuse.errors import InputError


class Parameterized:
    """`get_params`, `set_params` and a short ``repr`` from the signature of ``__init__``.

    ``sklearn.base.clone``, model selection and pipelines ask for nothing else, and get their tags from scikit-learn.
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given; ``deep`` is accepted because scikit-learn passes it."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; what was fitted stays until the next `fit`."""
        known = self._get_param_names()
        for name, value in params.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in signature(type(self)).parameters.items()
            if parameter.default is Parameter.empty or not _same(getattr(self, name), parameter.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)


def _same(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and repr(value) == repr(default))
