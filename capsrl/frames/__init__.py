"""PropBank's frames: which senses a lemma has, and what the roles of a sense mean."""
