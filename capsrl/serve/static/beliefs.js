// The role probabilities of each word before and after each iteration, from a trace.

const NONE = 0; // position of `_`, no role, among the roles of a trace

//   roles   names, sorted, without `_`
//   nSteps  N + 1: before the first iteration, and after each
//   pairs   every {word, role} where the role was the word's most probable one at any step
export class RoleHistory {
  constructor(proposition) {
    const { roles, beliefs } = proposition.trace;
    this.roles = roles.slice(1).sort();
    this.places = new Map(roles.map((role, place) => [role, place]));
    this.nSteps = beliefs.length;
    this.nWords = beliefs[0].length;
    this.predicate = proposition.predicate;
    this.beliefs = beliefs;
    this.names = roles;
    this.best = beliefs.map((step) => step.map(argmax)); // N+1 T
    this.pairs = [];
    for (let word = 0; word < this.nWords; word++) {
      const held = new Set(this.best.map((step) => step[word]));
      held.delete(NONE);
      for (const number of held) this.pairs.push({ word, role: roles[number], number });
    }
  }

  // The probability of a role (by name; null for none) of a word after `step` iterations.
  prob(step, word, role) {
    return this.beliefs[step][word][role === null ? NONE : this.places.get(role)];
  }

  // now: the role of the word; past: it was its role before; future: it will be.
  state(step, pair) {
    if (this.best[step][pair.word] === pair.number) return "now";
    const before = this.best.slice(0, step).some((best) => best[pair.word] === pair.number);
    return before ? "past" : "future";
  }

  arguments(step) {
    return this.pairs.filter((pair) => this.state(step, pair) === "now");
  }

  // Words with a role of some probability after any iteration. Before the first, all roles are
  // equally probable.
  wordsInPlay(least = 0.1) {
    return [...Array(this.nWords).keys()].filter(
      (word) =>
        word === this.predicate ||
        this.pairs.some((pair) => pair.word === word) ||
        this.beliefs.slice(1).some((step) => step[word].slice(1).some((prob) => prob >= least)),
    );
  }

  // A few sentences on what the iteration changed.
  changes(step, words) {
    const quoted = (word) => `“${words[word]}”`;
    const told = [];
    if (step === 0) {
      told.push(
        this.arguments(0).length
          ? "Before the first iteration."
          : "Before the first iteration all roles are equally probable.",
      );
    }
    for (let word = 0; step > 0 && word < this.nWords; word++) {
      const [old, now] = [this.best[step - 1][word], this.best[step][word]];
      if (old === now) continue;
      if (now === NONE) told.push(`${quoted(word)} loses ${this.names[old]}.`);
      else if (old === NONE) told.push(`${quoted(word)} gets ${this.names[now]}.`);
      else told.push(`${quoted(word)} changes from ${this.names[old]} to ${this.names[now]}.`);
    }
    if (!told.length) told.push("No role changes.");
    for (const role of this.roles) {
      const claims = this.arguments(step).filter((pair) => pair.role === role);
      if (claims.length > 1)
        told.push(
          `${claims.map((pair) => quoted(pair.word)).join(" and ")} share ${role}.`,
        );
    }
    return told.join(" ");
  }
}

function argmax(values) {
  return values.reduce((best, value, place) => (value > values[best] ? place : best), 0);
}

export function shown(probability) {
  return probability.toFixed(2);
}
