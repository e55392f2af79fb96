"""The network: words in, beliefs about roles out, and everything between.

Dimension letters, upper case in comments, lower case as an index:

B  sentences of the batch              R  roles, NO_ROLE among them (id 0)
T  words of the longest sentence       D  size of a capsule (the paper's K)
W  windows of pieces, at least one     M  rank: width in which word and predicate meet
   to a sentence                       C  candidate senses of a predicate
S  pieces of the longest window        E  width of the word vectors
P  predicates of the whole batch,      H  width of the encoder's states
   one row each                        N  routing iterations (the paper's T)
"""
