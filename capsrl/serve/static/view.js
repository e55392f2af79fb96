// One proposition: drawing, slider and table. The section is placed below its sentence.

import { Drawing, senseOf } from "./arcs.js";
import { RoleHistory } from "./beliefs.js";
import { save } from "./files.js";
import { makeTable } from "./heat.js";

const PACE = 1200; // milliseconds per iteration when playing
const FEW_WORDS = 12; // the table shows all words of sentences up to this length

// What the sense and the roles mean, as far as that is known.
function meaningOf({ words }, { definition, arguments: filled }) {
  const known = filled.filter((each) => each.meaning);
  const roles = known.map((each) => `${each.role} ${words[each.word]}: ${each.meaning}`);
  return [definition, ...roles].filter(Boolean).join("; ");
}

// The phrases of more than one word, as a line of text.
function phrasesOf(proposition) {
  return proposition.arguments
    .filter(({ phrase }) => phrase && phrase.first < phrase.last)
    .map(({ role, phrase }) => `${role}: ${phrase.text}`)
    .join("; ");
}

export class View {
  // onMove is called with the iteration whenever it changes.
  constructor(onMove) {
    this.section = document
      .getElementById("view-template")
      .content.firstElementChild.cloneNode(true);
    this.part = (id) => this.section.querySelector(`#${id}`);
    this.slider = this.part("iteration");
    this.onMove = onMove;
    this.slider.addEventListener("input", () => {
      this.stop();
      this.moveTo(Number(this.slider.value));
    });
    this.part("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    this.part("all-words").addEventListener("change", () => this.fillTable());
    this.part("save-svg").addEventListener("click", () => {
      save(`${this.name}.svg`, "image/svg+xml", this.drawing.standalone());
    });
    new ResizeObserver(() => this.fit()).observe(this.part("arcs"));
  }

  // Show a proposition after an iteration; null for the last.
  open(sentence, proposition, iteration) {
    this.stop();
    Object.assign(this, { sentence, proposition, history: new RoleHistory(proposition) });
    const last = this.history.nSteps - 1;
    this.name = `capsrl-${(proposition.sense ?? "proposition").replace(/[^\p{L}\p{N}.-]/gu, "_")}`;
    this.part("view-title").textContent =
      `${sentence.words[proposition.predicate]}: ${senseOf(proposition)}`;
    this.part("meaning").textContent = meaningOf(sentence, proposition);
    const phrases = phrasesOf(proposition);
    this.part("phrases").textContent = phrases;
    this.part("phrases").hidden = !phrases;
    this.slider.max = last;
    this.slider.disabled = this.part("play").disabled = last === 0;
    this.iteration = iteration === null ? last : Math.min(Math.max(iteration, 0), last);
    this.part("all-words").checked = sentence.words.length <= FEW_WORDS;
    this.width = null;
    this.fit();
    this.fillTable();
  }

  // Draw again for the current width.
  fit() {
    const room = this.part("arcs").clientWidth;
    if (!this.history || !room || room === this.width) return;
    this.width = room;
    this.drawing = new Drawing(this.sentence, this.proposition, this.history, room);
    this.part("arcs").replaceChildren(this.drawing.svg);
    this.drawing.show(this.iteration);
  }

  fillTable() {
    const all = [...this.sentence.words.keys()];
    const positions = this.part("all-words").checked ? all : this.history.wordsInPlay();
    this.showBeliefs = makeTable(this.part("heat"), this.sentence.words, this.history, positions);
    this.moveTo(this.iteration);
  }

  moveTo(iteration) {
    this.iteration = iteration;
    const last = this.history.nSteps - 1;
    const shownAs = `${iteration} of ${last}`;
    this.slider.value = iteration;
    this.slider.setAttribute("aria-valuetext", shownAs);
    this.part("iteration-shown").textContent = shownAs;
    this.part("story").textContent = this.history.changes(iteration, this.sentence.words);
    this.drawing?.show(iteration);
    this.showBeliefs(iteration);
    this.onMove(iteration);
  }

  play() {
    this.moveTo(0);
    this.part("play").textContent = "Stop";
    this.timer = setInterval(() => {
      this.moveTo(this.iteration + 1);
      if (this.iteration === this.history.nSteps - 1) this.stop();
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.part("play").textContent = "Play";
  }
}
