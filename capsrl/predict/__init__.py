"""From sentences to propositions, without torch: a model folder, numbers, scores, decoding."""
