"""What docs/verdicts.md says of the ledger."""

from itertools import chain

from results_tables import prose
from verdicts_cells import Found, number, of, table

MEANS = {
    "by_file_alone": "the file alone",
    "by_file_or_head": "with its head",
    "by_file_or_checkpoint_kept_elsewhere": "with a checkpoint kept elsewhere",
    "found": "any of them",
    "refused_for_appending": "writer refuses to go on",
}
KILLS = {
    "kills": "kills",
    "acknowledged_entries_lost": "acknowledged entries lost",
    "entries_doubled": "entries twice",
    "out_of_order": "ledgers out of order",
    "ledgers_not_sound": "ledgers not sound",
    "killed_in_the_middle_of_a_group": "killed in the middle of a group",
    "killed_between_group_and_head": "killed between group and head",
    "killed_before_a_whole_group_was_acknowledged": "killed before a whole group was acknowledged",
    "entries": "entries written in all",
}


def ledger_lines(found: Found) -> list[str]:
    """Return what changes were found, what kills left, and how fast it is."""
    parts = (_changes(found), _kills(found), _rates(found))
    return list(chain.from_iterable([*part, ""] for part in parts))[:-1]


def _changes(found: Found) -> list[str]:
    said = found["tampering"]
    kinds = {name: one for name, one in said.items() if isinstance(one, dict)}
    rows = [
        (name.replace("_", " "), *(of(one.get(key, 0), one["changes"]) for key in MEANS))
        for name, one in kinds.items()
    ]
    return [
        prose(
            f"Made by `{found['command']}` (seed {found['seed']}): {number(said['changes'])} random",
            "changes to one small ledger of real sessions, made without its key;",
            f"{said['not_found']} were not found. *Rechaining* changes an entry and writes every hash",
            "after it anew.",
        ),
        "",
        *table(("change", *MEANS.values()), rows),
        "",
        prose(
            "An end cut off after a whole group is found by the head, which lies beside the file. An old",
            "file with the head of that day is found only by who kept a later checkpoint elsewhere, and a",
            "writer goes on with it: let a second party countersign. The other changes that a writer does",
            "not refuse lie behind the last signature; it takes them for a group that was not finished,",
            "and cuts them off. Who has the key can write another ledger from the start; that too shows",
            "only against a checkpoint kept elsewhere. And no ledger shows that the host told the truth.",
        ),
    ]


def _kills(found: Found) -> list[str]:
    watch = found["kills_of_watch"]
    return [
        "### Killed at random moments (SIGKILL)",
        "",
        *table(
            ("writer of entries", "count"),
            ((words, number(found["kills"][key])) for key, words in KILLS.items()),
        ),
        "",
        prose(
            f"`flopwitness watch --ledger` on a replay, killed {watch['kills']} times: of",
            f"{watch['sessions']} sessions {watch['lost']} lost and {watch['doubled']} written twice at",
            f"the end, {watch['acknowledged_before_a_kill']} of them acknowledged before a kill;",
            f"{of(watch['starts_that_say_no_stop_came_before'], watch['kills'])} kills are told by the",
            "start that came after. A process was killed, not a machine: loss of power was not tested.",
        ),
    ]


def _rates(found: Found) -> list[str]:
    machine, verifying = found["environment"], found["verifying"]
    seconds, thorough = verifying["seconds_of_each_run"], verifying["thorough_entries_per_second"]
    each = ", ".join(f"{one:.1f}" for one in seconds)
    return [
        "### Speed",
        "",
        prose(
            f"On a virtual machine of {machine['cores']} cores ({machine['machine']}), Python",
            f"{machine['python']}, where forcing a page to disk took {1e3 * machine['fsync_seconds']:.1f}",
            f"ms (median). Others worked on it: load before and after {_load(found['appending'])} while",
            f"appending, {_load(verifying)} while verifying. Parts were measured again one by one; an",
            "earlier run on the same machine was slower (971 a second in groups of 64, 1,733 over the",
            "million, verified in 27, 15 and 11 s). Its answer and its load are not kept. Expect rates to",
            "follow the disk and the load.",
        ),
        "",
        *table(("what", "entries", "a second"), _rate_rows(found)),
        "",
        prose(
            f"A million sessions are {verifying['bytes'] / 1e9:.1f} GB; three verifications took {each} s.",
            "The quick check finds every change of bytes, since each line names the hash of the one",
            "before it. What it leaves out, the thorough one looks at: lines that only who holds the key",
            f"could have written so. At {number(thorough)} a second a million entries take it some",
            f"{1e6 / thorough / 60:.0f} minutes.",
        ),
    ]


def _rate_rows(found: Found) -> list[tuple[str, str, str]]:
    verifying, append = found["verifying"], "append and fsync, groups of"
    appended = {
        f"{append} {key.removeprefix('groups_of_')}": one
        for key, one in found["appending"].items()
        if key.startswith("groups_of_")
    }
    appended[f"{append} {verifying['group']}, a million on end"] = verifying["writing"]
    rows = [
        (words, number(one["entries"]), number(one["entries_per_second"])) for words, one in appended.items()
    ]
    n_entries, slowest = verifying["entries_with_checkpoints"], max(verifying["seconds_of_each_run"])
    thorough = number(verifying["thorough_entries_per_second"])
    return [
        *rows,
        ("verify (links, order, last signature)", number(n_entries), number(n_entries / slowest)),
        ("verify thoroughly (every signature, every line spelt again)", "6,500", thorough),
    ]


def _load(part: Found) -> str:
    return " and ".join(f"{one:.1f}" for one in part["load_before_and_after"])
