"""What plain JSON leaves open, refused: words that are no numbers, and keys that stand twice."""

from typing import Any


def refuse_constant(constant: str) -> float:
    """Refuse ``NaN`` and the infinities, as ``json.loads(parse_constant=...)``.

    Raises
    ------
    ValueError
        Always.
    """
    raise ValueError(f"{constant}, which is no JSON")


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object, as ``json.loads(object_pairs_hook=...)``.

    Raises
    ------
    ValueError
        When a key stands twice: two readers would take two values.

    Examples
    --------
    >>> object_of([("a", 1), ("b", 2)])
    {'a': 1, 'b': 2}
    """
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key that stands twice in one object")
    return content
