// A proposition with its trace in; what was believed of each word at each iteration out.

const NONE = 0; // the place of `_`, no role, among the roles of a trace

// How a proposition settled, in the terms of the page:
//   roles     names, sorted, without `_`
//   nSteps   N + 1: before the first iteration, and after each
//   pairs     every {word, role} that was the word's best at some time, in the order of the words
export class Settling {
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

  // The probability of a role (by its name; null is none) for a word after `step` iterations.
  prob(step, word, role) {
    return this.beliefs[step][word][role === null ? NONE : this.places.get(role)];
  }

  // now: the word's role; past: it was, and was given up; future: it will be, for the first time.
  state(step, pair) {
    if (this.best[step][pair.word] === pair.number) return "now";
    const before = this.best.slice(0, step).some((best) => best[pair.word] === pair.number);
    return before ? "past" : "future";
  }

  arguments(step) {
    return this.pairs.filter((pair) => this.state(step, pair) === "now");
  }

  // Words of which some role but none was ever at least a little likely. The start does not count:
  // there, all roles are as likely as each other.
  wordsInPlay(least = 0.1) {
    return [...Array(this.nWords).keys()].filter(
      (word) =>
        word === this.predicate ||
        this.pairs.some((pair) => pair.word === word) ||
        this.beliefs.slice(1).some((step) => step[word].slice(1).some((prob) => prob >= least)),
    );
  }

  // One or two sentences on what the last iteration did.
  story(step, words) {
    const quoted = (word) => `“${words[word]}”`;
    const told = [];
    if (step === 0) {
      told.push(
        this.arguments(0).length
          ? "As read off the words."
          : "No word has a role yet: all roles are as likely as each other.",
      );
    }
    for (let word = 0; step > 0 && word < this.nWords; word++) {
      const [old, now] = [this.best[step - 1][word], this.best[step][word]];
      if (old === now) continue;
      if (now === NONE) told.push(`${quoted(word)} gives up ${this.names[old]}.`);
      else if (old === NONE) told.push(`${quoted(word)} takes ${this.names[now]}.`);
      else told.push(`${quoted(word)} moves from ${this.names[old]} to ${this.names[now]}.`);
    }
    if (!told.length) told.push("No word changes its role.");
    for (const role of this.roles) {
      const claims = this.arguments(step).filter((pair) => pair.role === role);
      if (claims.length > 1)
        told.push(
          `${role} is claimed by ${claims.map((pair) => quoted(pair.word)).join(" and ")}.`,
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
