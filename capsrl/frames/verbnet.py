"""Name the roles of senses as VerbNet does: one class of VerbNet names all roles of a sense.

PropBank links a sense to several classes: *have* is in own-100.1, with a Pivot and a Theme, and in
devour-39.4, with an Agent and a Patient; their names must not be mixed. The class is the one named
after the verb, else the one whose other senses share most frames of FrameNet with the sense.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from capsrl.frames.index import Roleset, thematic_role, unnumbered

Key = tuple[str, str]  # name and function tag of a role: A0, PAG
Links = Mapping[str, Mapping[Key, Sequence[str]]]  # class -> role -> its names, the newest first

# A role without links has a name of other senses if so many have it, and this share of them. Left
# out one by one, 93 % of the roles with links then get their name; 66 % by their function tags.
_LEAST, _SHARE = 3, 0.75


def name_roles(rolesets: Sequence[tuple[Roleset, Links]]) -> Iterator[Roleset]:
    """The rolesets with names of their roles: by their links, by their frames or by their tags."""
    sizes = Counter(name for _, links in rolesets for name in links)
    shared = Counter((name, f) for each, links in rolesets for name in links for f in _frames(each))
    usual = Counter(
        (name, role, given)
        for _, links in rolesets
        for name, roles in links.items()
        for role, names in roles.items()
        for given in names
    )
    named = [(each, _choose(each, links, sizes, shared, usual)) for each, links in rolesets]
    votes: dict[tuple[str, Key], Counter[str]] = defaultdict(Counter)
    for each, names in named:
        for role, name in names.items():
            for frame in _frames(each):
                votes[frame, role][name] += 1
    for each, names in named:
        roles = []
        for known in each.roles:
            role = known.name, known.function
            alike = sum((votes[frame, role] for frame in _frames(each)), Counter[str]())
            roles.append(replace(known, thematic=names.get(role) or _infer(role, alike)))
        yield replace(each, roles=tuple(roles))


def _frames(roleset: Roleset) -> list[str]:
    return [link for link in roleset.links if link.startswith("framenet:")]


def _choose(
    roleset: Roleset,
    links: Links,
    sizes: Counter[str],
    shared: Counter[tuple[str, str]],
    usual: Counter[tuple[str, Key, str]],
) -> dict[Key, str]:
    """The names of the roles in the best class; of a role that it does not have in the next one."""

    def fit(name: str) -> tuple[bool, int, int, int]:
        is_own = name.rpartition("-")[0] == unnumbered(roleset.sense).partition("_")[0]
        # Shared frames per sense of the class, in quarters: smaller differences are chance.
        alike = sum(shared[name, frame] - 1 for frame in _frames(roleset)) / sizes[name]
        return is_own, round(4 * alike), len(links[name]), sum(map(len, links[name].values()))

    chosen: dict[Key, str] = {}
    for name in sorted(links, key=fit, reverse=True):
        for role, names in links[name].items():
            # Versions of VerbNet differ, also by error: *know* has Stimulus as A0 in one of them.
            counts = {each: (names.count(each), usual[name, role, each]) for each in names}
            chosen.setdefault(role, max(counts, key=lambda each: counts[each]))
    return chosen


def _infer(role: Key, votes: Counter[str]) -> str | None:
    """The name that senses of the same frames give the role, else that of its function tag."""
    (name, count), *_ = votes.most_common(1) or [("", 0)]
    if count >= max(_LEAST, _SHARE * votes.total()):
        return name
    number, function = role
    # What has a property (*the soup is good*) is tagged like an Agent, but does not act.
    return thematic_role("PPT" if function == "PAG" and number != "A0" else function)
