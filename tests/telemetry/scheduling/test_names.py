"""Names of GPUs become UUIDs; what could mean two GPUs is refused."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flopwitness.core.errors import BadInputError
from flopwitness.telemetry.scheduling.names import (
    DeviceOrder,
    alike_groups,
    gpus_allocated,
    has_index,
    visible_uuids,
)

SLOW_FAST = ("GPU-slow", "GPU-fast")
SPEEDS = {"GPU-slow": 1.0, "GPU-fast": 2.0}

uuids = st.lists(st.integers(0, 99).map("GPU-{:02}".format), min_size=1, max_size=8, unique=True)


@pytest.mark.parametrize(
    ("tres", "n_gpus"),
    [
        ("cpu=8,gres/gpu=4", 4),
        ("billing=8,cpu=8,mem=1G,node=2,gres/gpu:h200=4,gres/gpu=4", 4),
        ("gres/gpu:a100=1,gres/gpu:h200=2", 3),
        ("cpu=8,mem=64G", 0),
        ("", 0),
        ("gres/gpumem=4,gres/shard=2", 0),
    ],
)
def test_gpus_are_counted_from_what_was_allocated(tres: str, n_gpus: int):
    """Those of a type are a part of the plain count, not more of them."""
    assert gpus_allocated(tres) == n_gpus


@settings(deadline=None)
@given(st.integers(0, 10**6), st.permutations(["cpu=8", "mem=4G", "billing=3"]), st.integers(0, 3))
def test_the_count_does_not_depend_on_what_stands_beside_it(n_gpus: int, others: list[str], at: int):
    """Whatever its place in the list."""
    tres = ",".join([*others[:at], f"gres/gpu={n_gpus}", *others[at:]])

    assert gpus_allocated(tres) == n_gpus


@settings(deadline=None)
@given(st.text())
def test_any_text_has_a_count(tres: str):
    """Nothing breaks it."""
    assert gpus_allocated(tres) >= 0


@pytest.mark.parametrize(
    ("order", "uuid"), [(DeviceOrder.FASTEST_FIRST, "GPU-fast"), (DeviceOrder.PCI_BUS_ID, "GPU-slow")]
)
def test_an_index_is_the_gpu_in_its_place_of_the_jobs_order(order: DeviceOrder, uuid: str):
    """CUDA's first GPU is the fastest one, NVML's the first on the bus."""
    assert visible_uuids("0", alike_groups(order, SLOW_FAST, SPEEDS)) == (uuid,)


def test_an_index_in_an_unknown_order_is_refused():
    """It may be either GPU."""
    with pytest.raises(BadInputError, match=r"got \[0\], any of GPU-slow, GPU-fast"):
        visible_uuids("0", alike_groups(DeviceOrder.UNKNOWN, SLOW_FAST, SPEEDS))


def test_all_indexes_are_all_gpus_in_any_order():
    """A set does not depend on who is first."""
    groups = alike_groups(DeviceOrder.UNKNOWN, SLOW_FAST, SPEEDS)

    assert visible_uuids("1,0", groups) == ("GPU-fast", "GPU-slow")


def test_gpus_of_one_speed_are_told_apart_by_their_bus_alone():
    """By speed the two may stand in either order."""
    speeds = {"GPU-a": 1.0, "GPU-b": 1.0, "GPU-c": 2.0}
    groups = alike_groups(DeviceOrder.FASTEST_FIRST, tuple(speeds), speeds)

    assert visible_uuids("0", groups) == ("GPU-c",)
    assert visible_uuids("1,2", groups) == ("GPU-a", "GPU-b")
    with pytest.raises(BadInputError, match="any of GPU-a, GPU-b"):
        visible_uuids("1", groups)


def test_a_gpu_of_unknown_speed_makes_the_order_by_speed_unknown():
    """It may be the fastest."""
    with pytest.raises(BadInputError, match="any of"):
        visible_uuids("0", alike_groups(DeviceOrder.FASTEST_FIRST, SLOW_FAST, {"GPU-slow": 1.0}))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("GPU-slow", ("GPU-slow",)),
        ("GPU-s", ("GPU-slow",)),
        ("MIG-GPU-fast/7/0", ("GPU-fast",)),
        ("MIG-5b3e", ("MIG-5b3e",)),
        ("GPU-slow, GPU-slow", ("GPU-slow",)),
        ("", ()),
        ("NoDevFiles", ()),
    ],
)
def test_uuids_need_no_order(value: str, expected: tuple[str, ...]):
    """Whole, as far as they are unique, or of a slice."""
    groups = alike_groups(DeviceOrder.UNKNOWN, SLOW_FAST, SPEEDS)

    assert visible_uuids(value, groups) == expected


@pytest.mark.parametrize("value", ["GPU-", "GPU-x", "2", "-1", "0,,1", "all", "٣"])
def test_what_names_no_gpu_or_several_is_refused(value: str):
    """It is not passed over: a job would lose a GPU."""
    with pytest.raises(BadInputError):
        visible_uuids(value, alike_groups(DeviceOrder.PCI_BUS_ID, SLOW_FAST, SPEEDS))


@settings(deadline=None)
@given(uuids, st.data())
def test_places_and_uuids_say_the_same(known: list[str], data: st.DataObject):
    """By PCI order; whatever the order of the entries, and however often one stands there."""
    chosen = data.draw(st.lists(st.sampled_from(known), min_size=1))
    groups = alike_groups(DeviceOrder.PCI_BUS_ID, known, {})

    by_place = visible_uuids(",".join(str(known.index(uuid)) for uuid in chosen), groups)

    assert by_place == visible_uuids(",".join(chosen), groups) == tuple(sorted(set(chosen)))


@settings(deadline=None)
@given(uuids, st.data())
def test_what_is_not_refused_is_right_in_every_order_that_may_be(known: list[str], data: st.DataObject):
    """Of an order that is not known, an answer is what each possible order gives."""
    some = known[:4]
    indexes = data.draw(st.sets(st.integers(0, len(some) - 1), min_size=1))
    value = ",".join(map(str, indexes))
    answers = {tuple(sorted(order[at] for at in indexes)) for order in permutations(some)}

    try:
        found = visible_uuids(value, alike_groups(DeviceOrder.UNKNOWN, some, {}))
    except BadInputError:
        assert len(answers) > 1
    else:
        assert answers == {found}


@settings(deadline=None)
@given(st.text(max_size=20), uuids)
def test_any_text_gives_uuids_or_is_refused(value: str, known: list[str]):
    """Nothing else comes out."""
    try:
        found = visible_uuids(value, alike_groups(DeviceOrder.PCI_BUS_ID, known, {}))
    except BadInputError:
        return

    assert all(uuid in known or uuid.startswith("MIG-") for uuid in found) or value.startswith("MIG-GPU-")
    assert not has_index(value) or found
