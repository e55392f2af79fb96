import numpy as np

from capsrl.frames.kinds import CORE_ROLES, NO_SUCH_ROLE, UNKNOWN_SENSE, find_kinds
from tests.helpers.tiny_sentences import DESCRIPTIONS, FRAMES


def test_kinds_say_what_the_frames_say():
    senses = ["see.01", "see.02", "bark.01", "go.01", "leave.01"]
    kinds = find_kinds(senses, FRAMES, DESCRIPTIONS)
    assert kinds.of_role.shape == (5, len(CORE_ROLES))
    assert set(kinds.of_role[3]) == {UNKNOWN_SENSE}
    assert set(kinds.of_role[2, 1:]) == {NO_SUCH_ROLE}
    for number, sense in enumerate(senses):
        for role in FRAMES.roles_of(sense):
            kind = kinds.of_role[number, CORE_ROLES.index(role.name)]
            row = DESCRIPTIONS.row(sense, role.name)
            wanted = np.zeros(3) if row is None else DESCRIPTIONS.vectors[row]
            assert np.array_equal(kinds.vectors[kind], wanted)
    # The same tag, another thematic role or description; the same of everything.
    see, see_2, bark, leave = (kinds.of_role[n, 0] for n in (0, 1, 2, 4))
    assert len({see, see_2, bark}) == 3
    assert bark == leave
    assert len({kinds.functions[kind] for kind in (see, see_2, bark)}) == 1
    assert kinds.thematic[see_2] == kinds.thematic[bark] != kinds.thematic[see]
    assert len(set(kinds.functions[[NO_SUCH_ROLE, UNKNOWN_SENSE, see]])) == 3
