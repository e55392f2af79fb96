"""The text of a gold file and of a prediction for it, for the commands that score files."""

GOLD = """\
1\tShe\tshe\tshe\tPRP\tPRP\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\tA0
2\tsold\tsell\tsell\tVBD\tVBD\t_\t_\t0\t0\tROOT\tROOT\tY\tsell.01\t_
3\tcars\tcar\tcar\tNNS\tNNS\t_\t_\t2\t2\tOBJ\tOBJ\t_\t_\tA1

1\tYes\tyes\tyes\tUH\tUH\t_\t_\t0\t0\tROOT\tROOT\t_\t_

"""
PRED = GOLD.replace("sell.01", "deal.01").replace("\tA1", "\tA2")
