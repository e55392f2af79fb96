"""Align two tokenizations of the same text by the tags of their words.

The published propositions have tags but no words. In a treebank that was corrected since, some tags
differ and a few words were split or joined.
"""

from collections.abc import Sequence

_OTHER_TAG, _NOT_ALONE = 2, 3
GOES_WITH = "GW"  # Penn tag of the first part of a word with a space in it; matches any tag


def align_tags(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Return for each old word the new words it became, in order; every word has a partner.

    The alignment has the lowest cost: a pair with different tags costs 2, and each word that shares
    its partner with the word before it (the second half of a split word, or a joined word) costs 3.
    So words are only taken as split or joined if that repairs at least four tags. Of alignments
    with the same cost, the one that joins a word to the preceding one is taken.
    """
    if list(old) == list(new):
        return [[position] for position in range(len(old))]
    if not old or not new:
        return [[] for _ in old]
    partners: list[list[int]] = [[] for _ in old]
    costs = _costs(old, new)
    i, j = len(old) - 1, len(new) - 1
    while True:
        partners[i].append(j)
        if i and costs[i][j] == costs[i - 1][j] + _NOT_ALONE:
            i -= 1
        elif j and costs[i][j] == costs[i][j - 1] + _NOT_ALONE:
            j -= 1
        elif i and j:
            i, j = i - 1, j - 1
        else:
            return [found[::-1] for found in partners]


def _costs(old: Sequence[str], new: Sequence[str]) -> list[list[int]]:
    """Return the cost of the best alignment that ends at each pair."""
    costs: list[list[int]] = []
    for i, old_tag in enumerate(old):
        above = costs[-1] if costs else None
        row: list[int] = []
        for j, new_tag in enumerate(new):
            together = 0 if old_tag in (new_tag, GOES_WITH) else _OTHER_TAG
            ways = []
            if above is not None:
                ways.append(above[j] + _NOT_ALONE)
                if j:
                    ways.append(above[j - 1] + together)
            if j:
                ways.append(row[j - 1] + _NOT_ALONE)
            row.append(min(ways) if i or j else together)
        costs.append(row)
    return costs
