"""The network in torch: word vectors, encoder, predicates, phrases, capsules, routing, loss.

Dimension letters, upper case in comments and shapes, lower case as an index:

B  sentences of the batch              R  roles, NO_ROLE among them (id 0)
T  words of the longest sentence       D  size of a capsule (the paper's K)
U  distinct words of the batch         M  rank: the width at which words and predicates are combined
P  predicates of the whole batch,      C  candidate senses of a predicate
   one row each                        K  sense patterns, such as `{}.01`
W  windows of subwords, at least one   N  routing iterations (the paper's T)
   per sentence                        L  layers of a pretrained encoder
S  subwords of the longest window      F  filters of a convolution over characters
E  width of the word vectors           X  characters of the longest distinct word
H  width of the encoder's states       n  items of a single sentence: subwords, predicates, words

A prime marks a second width of the same kind: H' for the predicate layer, X' after a convolution.
"""
