// The SVG drawing of a proposition, which can show any iteration.

import { shown } from "./beliefs.js";
import { makeLayout } from "./layout.js";

const SVG = "http://www.w3.org/2000/svg";
const FONT = "Arial, 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', sans-serif";
const WORD_SIZE = 15,
  LABEL_SIZE = 11;
const MARGIN = 14,
  LEVEL = 20,
  STEM = 8,
  WORD = 19,
  SENSE = 14,
  BREAK = 16,
  BEND = 7;
const MOST_SCALE = 1.4;
export const N_HUES = 8;

// Positions are the same for all iterations; only labels and opacity change, so that the eye can
// follow. Arcs of later iterations have their place already, but are hidden.
export class Drawing {
  constructor(sentence, proposition, history, maxWidth) {
    this.history = history;
    this.words = sentence.words;
    this.sense = senseOf(proposition);
    const measure = makeMeasure();
    const widths = sentence.words.map((word) => measure(visible(word), WORD_SIZE));
    widths[proposition.predicate] = Math.max(
      widths[proposition.predicate],
      measure(this.sense, LABEL_SIZE),
    );
    this.arcs = history.pairs.map((pair) => {
      const width = measure(`${pair.role} 0.00`, LABEL_SIZE) + 4;
      return {
        ...pair,
        width,
        hue: history.roles.indexOf(pair.role) % N_HUES,
        groups: [],
        labels: [],
      };
    });
    const layout = makeLayout(
      widths,
      proposition.predicate,
      this.arcs,
      Math.max(120, maxWidth - 2 * MARGIN),
    );
    this.svg = this.#draw(layout, proposition.predicate, maxWidth);
  }

  #draw(layout, predicate, maxWidth) {
    const lines = element("g", { transform: `translate(${MARGIN} 0)` });
    let y = MARGIN;
    for (const line of layout.lines) {
      y += line.nLevels * LEVEL + (line.segments.length ? STEM : 0);
      for (const segment of line.segments) lines.append(drawArc(segment, y));
      for (const { word, x } of line.boxes) {
        const text = textAt(x, y + WORD * 0.75, visible(this.words[word]), "word");
        lines.append(text);
        if (word !== predicate) continue;
        text.classList.add("predicate");
        lines.append(textAt(x, y + WORD * 0.75 + SENSE, this.sense, "sense"));
      }
      y += WORD + (line.boxes.some((box) => box.word === predicate) ? SENSE : 0) + BREAK;
    }
    const [width, height] = [layout.width + 2 * MARGIN, y - BREAK + MARGIN].map(Math.ceil);
    const scale = Math.min(MOST_SCALE, Math.max(1, maxWidth / width)); // short sentences grow
    const size = { width: width * scale, height: height * scale };
    const svg = element("svg", { ...size, viewBox: `0 0 ${width} ${height}`, role: "img" });
    svg.setAttribute("class", "drawing");
    svg.setAttribute("font-family", FONT);
    svg.append(element("rect", { class: "paper", width, height }), lines);
    return svg;
  }

  // Show the roles after `step` iterations.
  show(step) {
    for (const arc of this.arcs) {
      const state = this.history.state(step, arc);
      const prob = this.history.prob(step, arc.word, arc.role);
      for (const group of arc.groups) {
        group.setAttribute("class", `arc ${state} hue${arc.hue}`);
        group.style.setProperty("--sure", state === "now" ? 0.4 + 0.6 * prob : 1);
      }
      for (const label of arc.labels) label.textContent = `${arc.role} ${shown(prob)}`;
    }
    const held = this.history.arguments(step);
    const list =
      held.map((pair) => `${pair.role} ${this.words[pair.word]}`).join(", ") || "no arguments";
    this.svg.setAttribute("aria-label", `${this.sense}: ${list}`);
  }

  // The drawing as it looks now, as a self-contained file: every style is a plain attribute.
  standalone() {
    for (const animation of this.svg.getAnimations({ subtree: true })) animation.finish();
    const copy = this.svg.cloneNode(true);
    const [live, copies] = [this.svg, copy].map((svg) => [...svg.querySelectorAll("*")]);
    live.forEach((source, place) => {
      const style = getComputedStyle(source);
      if (style.visibility === "hidden") return;
      for (const name of WRITTEN) {
        const value = style.getPropertyValue(name);
        if (value)
          copies[place].setAttribute(
            name === "text-decoration-line" ? "text-decoration" : name,
            value,
          );
      }
      copies[place].removeAttribute("style");
      copies[place].removeAttribute("class");
    });
    for (const unseen of copy.querySelectorAll(".future")) unseen.remove();
    copy.setAttribute("xmlns", SVG);
    return new XMLSerializer().serializeToString(copy);
  }
}

const WRITTEN = [
  ...["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "text-anchor"],
  ...["font-size", "font-style", "font-weight", "text-decoration-line"],
];

export function senseOf(proposition) {
  const sure = proposition.probability === undefined ? "" : ` ${shown(proposition.probability)}`;
  const guess = proposition.guessed || !proposition.sense ? "?" : "";
  return `${visible(proposition.sense ?? "")}${guess}${sure}`;
}

function drawArc(segment, y) {
  const { arc, left, right, down, head, labelX, level } = segment;
  const top = y - STEM - (level - 0.5) * LEVEL;
  const foot = y - 2;
  const bend = Math.min(BEND, (right - left) / 2);
  let path = `M${left} ${top}`;
  if (down[0]) path = `M${left} ${foot}V${top + bend}q0 ${-bend} ${bend} ${-bend}`;
  path += `H${down[1] ? right - bend : right}`;
  if (down[1]) path += `q${bend} 0 ${bend} ${bend}V${foot}`;
  const group = element("g", {});
  group.append(element("path", { class: "line", d: path }));
  if (head !== null)
    group.append(element("path", { class: "head", d: `M${head - 3.5} ${foot - 6}h7l-3.5 7z` }));
  group.append(
    element("rect", {
      class: "paper",
      x: labelX - arc.width / 2,
      y: top - 7,
      width: arc.width,
      height: 14,
    }),
  );
  const label = textAt(labelX, top + 4, "", "role");
  group.append(label);
  arc.groups.push(group);
  arc.labels.push(label);
  return group;
}

function textAt(x, y, content, name) {
  const text = element("text", { x, y, class: name });
  text.textContent = content;
  return text;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, typeof value === "number" ? +value.toFixed(1) : value);
  }
  return made;
}

function makeMeasure() {
  const context = document.createElement("canvas").getContext("2d");
  return (text, size) => {
    context.font = `${size}px ${FONT}`;
    return context.measureText(text).width;
  };
}

// XML does not allow control characters: a file with one would not open.
function visible(text) {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffe\uffff]|\p{Surrogate}/gu,
    "\ufffd",
  );
}
