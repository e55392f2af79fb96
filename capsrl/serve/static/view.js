// One proposition on the page: arcs, slider, beliefs. It moves below the sentence it is of.

import { Drawing, senseOf } from "./arcs.js";
import { Settling } from "./beliefs.js";
import { save } from "./files.js";
import { makeHeat } from "./heat.js";

const PACE = 1200; // milliseconds per iteration when playing
const FEW_WORDS = 12; // sentences up to here are shown whole in the table

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

  // Show a proposition; iteration null is the last.
  open(sentence, proposition, iteration) {
    this.stop();
    Object.assign(this, { sentence, proposition, settling: new Settling(proposition) });
    const last = this.settling.nSteps - 1;
    this.name = `capsrl-${(proposition.sense ?? "proposition").replace(/[^\p{L}\p{N}.-]/gu, "_")}`;
    this.part("view-title").textContent =
      `${sentence.words[proposition.predicate]}: ${senseOf(proposition)}`;
    this.slider.max = last;
    this.slider.disabled = this.part("play").disabled = last === 0;
    this.iteration = iteration === null ? last : Math.min(Math.max(iteration, 0), last);
    this.part("all-words").checked = sentence.words.length <= FEW_WORDS;
    this.width = null;
    this.fit();
    this.fillTable();
  }

  // Draw anew for the width there is; called when the window changes, too.
  fit() {
    const room = this.part("arcs").clientWidth;
    if (!this.settling || !room || room === this.width) return;
    this.width = room;
    this.drawing = new Drawing(this.sentence, this.proposition, this.settling, room);
    this.part("arcs").replaceChildren(this.drawing.svg);
    this.drawing.show(this.iteration);
  }

  fillTable() {
    const all = [...this.sentence.words.keys()];
    const positions = this.part("all-words").checked ? all : this.settling.wordsInPlay();
    this.showBeliefs = makeHeat(this.part("heat"), this.sentence.words, this.settling, positions);
    this.moveTo(this.iteration);
  }

  moveTo(iteration) {
    this.iteration = iteration;
    const last = this.settling.nSteps - 1;
    const shownAs = `${iteration} of ${last}`;
    this.slider.value = iteration;
    this.slider.setAttribute("aria-valuetext", shownAs);
    this.part("iteration-shown").textContent = shownAs;
    this.part("story").textContent = this.settling.story(iteration, this.sentence.words);
    this.drawing?.show(iteration);
    this.showBeliefs(iteration);
    this.onMove(iteration);
  }

  play() {
    this.moveTo(0);
    this.part("play").textContent = "Stop";
    this.timer = setInterval(() => {
      this.moveTo(this.iteration + 1);
      if (this.iteration === this.settling.nSteps - 1) this.stop();
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.part("play").textContent = "Play";
  }
}
