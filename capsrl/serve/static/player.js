// The open proposition, and the one control that moves through its iterations.

const PACE = 1300; // milliseconds per iteration when playing
const SVG = "http://www.w3.org/2000/svg";

export class Player {
  // onMove is called whenever the iteration changes.
  constructor(onMove) {
    this.controls = document.getElementById("controls");
    this.part = (id) => this.controls.querySelector(`#${id}`);
    this.slider = this.part("iteration");
    this.onMove = onMove;
    this.detail = null;
    this.slider.addEventListener("input", () => {
      this.stop();
      this.moveTo(Number(this.slider.value));
      this.onMove();
    });
    this.part("play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    this.part("save-svg").addEventListener("click", () =>
      save(`${this.#fileName}.svg`, new Blob([this.#standalone()], { type: "image/svg+xml" })),
    );
    this.part("save-png").addEventListener("click", async () =>
      save(`${this.#fileName}.png`, await painted(this.#standalone())),
    );
  }

  isOpen(proposition) {
    return this.detail !== null && this.proposition === proposition;
  }

  get #fileName() {
    const sense = this.proposition.dataset.sense || "proposition";
    return `capsrl-${sense.replace(/[^\p{L}\p{N}.-]/gu, "_")}`;
  }

  // What the address says of the view.
  get place() {
    if (!this.detail) return {};
    const { s } = this.proposition.closest("li").dataset;
    return { s, p: this.proposition.dataset.p, i: this.iteration };
  }

  // Show a proposition, an element of the page, after an iteration; null for the last.
  open(proposition, iteration) {
    this.close();
    const detail = proposition.querySelector(".detail");
    Object.assign(this, { detail, proposition, last: Number(proposition.dataset.steps) - 1 });
    this.#expand(true);
    for (const line of proposition.closest("li").querySelectorAll("h2[data-p]"))
      line.hidden = line.dataset.p !== proposition.dataset.p;
    detail.querySelector(".figure").append(this.controls);
    this.controls.hidden = false;
    this.slider.max = this.last;
    this.slider.disabled = this.part("play").disabled = this.last === 0;
    this.moveTo(Math.min(iteration ?? this.last, this.last));
  }

  close() {
    this.stop();
    if (this.detail) this.#expand(false);
    this.controls.hidden = true;
    document.body.append(this.controls);
    this.detail = null;
  }

  #expand(isOpen) {
    this.detail.hidden = !isOpen;
    this.proposition.querySelector("button").setAttribute("aria-expanded", String(isOpen));
    this.proposition.classList.toggle("open", isOpen);
    for (const chip of this.proposition.querySelectorAll(".capsrl-phrase"))
      chip.tabIndex = isOpen ? 0 : -1; // long texts would else have a hundred stops of the Tab key
  }

  // Show the roles after an iteration: arcs and rows have a letter per iteration, n for now, p for
  // past and f for future.
  moveTo(iteration) {
    this.iteration = iteration;
    const shown = `${iteration} of ${this.last}`;
    this.slider.value = iteration;
    this.slider.setAttribute("aria-valuetext", shown);
    this.part("iteration-shown").textContent = shown;
    this.part("story").textContent = this.#story();
    for (const part of this.detail.querySelectorAll("[data-states]"))
      part.dataset.now = part.dataset.states[iteration];
    for (const cell of this.detail.querySelectorAll("[data-step]"))
      cell.classList.toggle("current", Number(cell.dataset.step) === iteration);
    this.part("ghosts").hidden = !this.detail.querySelector("tr[data-now=p]");
  }

  // What the iteration changes, in words; if nothing, what the last one changed that did.
  #story() {
    if (this.last === 0) return "";
    if (this.iteration === 0) return "Before the first iteration all roles are equally probable.";
    const told = this.#changes(this.iteration);
    if (told) return told;
    for (let step = this.iteration - 1; step > 1; step--) {
      const earlier = this.#changes(step);
      if (earlier) return `No change. In iteration ${step}: ${earlier}`;
    }
    return "No role changes.";
  }

  #changes(step) {
    const [lost, gained] = [new Map(), new Map()];
    for (const row of this.detail.querySelectorAll("tr[data-states]")) {
      const [before, now] = [step - 1, step].map((each) => row.dataset.states[each] === "n");
      const word = `“${row.querySelector("td b").textContent}”`;
      if (before !== now)
        (now ? gained : lost).set(word, row.querySelector("[data-role]").dataset.role);
    }
    const told = [...gained].map(([word, role]) =>
      lost.has(word) ? `${word} changes from ${lost.get(word)} to ${role}.` : `${word} becomes ${role}.`,
    );
    for (const [word, role] of lost)
      if (!gained.has(word)) told.push(`${word} is no longer ${role}.`);
    return told.join(" ");
  }

  play() {
    if (this.last === 0) return;
    this.moveTo(0);
    this.part("play").textContent = "Stop";
    this.timer = setInterval(() => {
      this.moveTo(this.iteration + 1);
      if (this.iteration < this.last) return;
      this.stop();
      this.onMove();
    }, PACE);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.part("play").textContent = "Play";
  }

  // The drawing as it looks now, as one self-contained file: the lines of the page one below the
  // other, whose colors are plain attributes.
  #standalone() {
    const file = document.createElementNS(SVG, "svg");
    let [width, height] = [0, 0];
    for (const line of this.detail.querySelectorAll(".capsrl-drawing svg")) {
      const copy = line.cloneNode(true);
      copy.removeAttribute("aria-hidden");
      copy.setAttribute("y", height);
      width = Math.max(width, line.width.baseVal.value);
      height += line.height.baseVal.value;
      for (const unseen of copy.querySelectorAll("[data-now=f], .capsrl-bracket[data-now=p]"))
        unseen.remove();
      for (const ghost of copy.querySelectorAll("[data-now=p] .capsrl-line"))
        ghost.setAttribute("stroke-dasharray", "4 3");
      file.append(copy);
    }
    const paper = document.createElementNS(SVG, "rect");
    for (const [name, value] of Object.entries({ width, height, fill: "#ffffff" }))
      paper.setAttribute(name, value);
    file.prepend(paper);
    file.setAttribute("viewBox", `0 0 ${width} ${height}`);
    file.setAttribute("width", width);
    file.setAttribute("height", height);
    return new XMLSerializer().serializeToString(file);
  }
}

// A drawing as a PNG of twice its size.
async function painted(svg) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * image.naturalWidth, 2 * image.naturalHeight];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((resolve) => canvas.toBlob(resolve));
}

export function save(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // A download that has begun no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
