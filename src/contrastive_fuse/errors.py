"""The one exception that bad input raises, and small helpers that word it."""

from __future__ import annotations

from collections.abc import Collection, Iterable


class InputError(ValueError):
    """Something the caller gave cannot be used; the message says what, where and what was expected."""


class MissingExtraError(ImportError):
    """An optional dependency is needed; the message is the command that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs an extra: pip install "contrastive-fuse[{extra}]"')


def check_choice(parameter: str, value: object, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``, else say which there are."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{parameter} must be one of {', '.join(map(repr, choices))}; got {value!r}")
    return value


def check_number(parameter: str, value: object, *, at_least: float | None = None, above: float | None = None) -> float:
    """Return ``value`` as a float if it is a finite number within the bounds."""
    if isinstance(value, bool) or (not isinstance(value, int | float) and not hasattr(value, "dtype")):
        raise InputError(f"{parameter} must be a number; got {value!r}")
    number = float(value)  # type: ignore[arg-type]
    bound = f" of at least {at_least:g}" if at_least is not None else ""
    bound = f" above {above:g}" if above is not None else bound
    too_small = (at_least is not None and number < at_least) or (above is not None and number <= above)
    if not abs(number) < float("inf") or too_small:
        raise InputError(f"{parameter} must be a finite number{bound}; got {value!r}")
    return number


def check_integer(parameter: str, value: object, *, at_least: int) -> int:
    """Return ``value`` as an int if it is a whole number within the bound."""
    number = check_number(parameter, value, at_least=at_least)
    if number != int(number):
        raise InputError(f"{parameter} must be a whole number; got {value!r}")
    return int(number)


def counted(number: int, noun: str) -> str:
    """Word a number of things: "1 pair", "2,000 pairs"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def first_few(items: Iterable[object], total: int, show: int = 5) -> str:
    """Word a list for a message: the first few items, and how many more there are."""
    shown = [repr(item) for _, item in zip(range(show), items, strict=False)]
    rest = total - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")
