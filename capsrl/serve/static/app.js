// The page: sends the text to the server, which draws; lists all propositions; opens one of them
// and shows its iterations. The address describes what is shown (#text, n: number of iterations,
// s: sentence, p: predicate, i: iteration), so that opening it shows the same again.

import { Player, save } from "./player.js";

const byId = (id) => document.getElementById(id);
const player = new Player(rememberSoon);
const MOST_SCALE = 1.3;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

let asked = null; // {text, n, width}: the request that the sentences answer
let sentences = []; // [{text, propositions: [{predicate, sense, heading, phrases, drawing, table}]}]
let request = null; // the AbortController of the current request
let timer = null;

byId("examples").open = matchMedia("(min-width: 48rem)").matches;
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask({ text: byId("text").value, n: "" }, { play: true });
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
});
byId("examples").addEventListener("click", (event) => {
  // A click on a link to the current address does not fire hashchange.
  if (event.target.hash && event.target.hash === location.hash) restore();
});
document.addEventListener("keydown", (event) => { // closes the meaning of a role
  if (event.key === "Escape") document.activeElement.closest(".capsrl [tabindex]")?.blur();
});
for (const event of ["focusin", "pointerover"]) document.addEventListener(event, keepInside);
for (const [format, suffix] of [["json", "jsonl"], ["csv", "csv"], ["conll09", "conll09"]]) {
  byId(`save-${format}`).addEventListener("click", () => download(format, suffix));
}
player.part("copy-link").addEventListener("click", copyLink);
window.addEventListener("hashchange", async () => {
  if (!location.hash.includes("text=")) return; // a link to a part of the page
  await restore();
  byId("results").scrollIntoView({ block: "nearest" });
});
new ResizeObserver(fit).observe(byId("probe"));
restore();

// Show what the address describes, or else the first example.
function restore() {
  clearTimeout(timer); // the address must not change to an older view
  const example = document.querySelector("#examples a").hash;
  const given = new URLSearchParams(location.hash.slice(1));
  const address = given.get("text") === null ? new URLSearchParams(example.slice(1)) : given;
  const wanted = { text: address.get("text"), n: address.get("n") ?? "" };
  byId("text").value = wanted.text;
  const number = (name) =>
    /^\d{1,6}$/.test(address.get(name) ?? "") ? Number(address.get(name)) : null;
  const place = { s: number("s") ?? 0, p: number("p"), i: number("i") };
  place.play = place.i === null;
  if (asked && asked.text === wanted.text && asked.n === wanted.n) return choosePlace(place);
  return ask(wanted, place);
}

// Label a text and show the result. `place` is the view to open, null for none.
async function ask(question, place) {
  request?.abort();
  const mine = (request = new AbortController());
  const width = drawingWidth();
  showError("");
  byId("status").textContent = "Labeling…";
  byId("form").setAttribute("aria-busy", "true");
  let answer = null;
  let message = "";
  try {
    const response = await post(`page/label?width=${width}`, question, { trace: true }, mine.signal);
    answer = await response.json();
  } catch (error) {
    message = error.message;
  }
  if (mine !== request) return; // another request has replaced this one
  byId("form").removeAttribute("aria-busy");
  byId("status").textContent = "";
  showError(message);
  if (!answer) {
    if (question.text !== asked?.text || question.n !== asked.n) {
      asked = null; // the old result must not stand below another text
      showSentences([]);
    }
    return;
  }
  asked = { ...question, width };
  showSentences(answer.sentences);
  if (place) choosePlace(place);
  byId("status").textContent = counted();
}

async function post(url, { text, n }, options, signal) {
  const headers = { "Content-Type": "application/json" };
  if (byId("token").value) headers.Authorization = `Bearer ${byId("token").value}`;
  const body = JSON.stringify({ text, ...options, ...(n && { iterations: Number(n) }) });
  let response;
  try {
    response = await fetch(url, { method: "POST", headers, body, signal });
  } catch {
    throw new Error("The server cannot be reached. Check the connection, then try again.");
  }
  const needsToken = response.status === 401;
  byId("token-row").hidden = !needsToken;
  if (needsToken) byId("token").focus();
  if (response.ok) return response;
  const { detail = "" } = await response.json().catch(() => ({}));
  throw new Error(inPlainWords(response, String(detail)));
}

function inPlainWords(response, detail) {
  const wait = response.headers.get("Retry-After");
  if (response.status === 401)
    return byId("token").value
      ? "This is not the token of this server."
      : "This server needs an access token. Enter it, then choose Label.";
  if (response.status === 413) {
    const [most] = detail.match(/[\d,]*\d(?= characters)/) ?? [];
    return `The text is too long.${most ? ` This page takes up to ${most} characters at a time.` : ""}`;
  }
  if (response.status === 503)
    return `The server is busy. Try again${wait ? ` in ${wait} seconds` : " in a moment"}.`;
  if (response.status === 422) return `The server does not accept this text: ${detail}`;
  return `Something went wrong on the server (error ${response.status}). Try again.`;
}

function showError(message) {
  byId("error").textContent = message;
  byId("error").hidden = !message;
}

function counted() {
  const n = sentences.reduce((sum, sentence) => sum + sentence.propositions.length, 0);
  if (!sentences.length) return "The text is empty.";
  if (!n) return "No predicates found.";
  const some = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  return `${some(n, "predicate")} in ${some(sentences.length, "sentence")}.`;
}

// The overview: all propositions of all sentences, each with its phrases by role.
function showSentences(answer) {
  sentences = answer;
  player.close();
  byId("results").hidden = !sentences.length;
  byId("sentences").replaceChildren(
    ...sentences.map(({ text, propositions }, s) => {
      const item = element("li", {}, element("h2", { dir: "auto", class: "sentence" }, text));
      if (!propositions.length)
        item.append(element("p", { class: "hint" }, "No predicates found."));
      item.append(...propositions.map((proposition) => propositionItem(proposition, s)));
      return item;
    }),
  );
}

function propositionItem(proposition, s) {
  const id = `detail-${s}-${proposition.predicate}`;
  const button = element("button", { type: "button", "aria-expanded": "false", "aria-controls": id });
  button.append(...parsed(proposition.heading));
  const detail = element("div", { id, class: "detail", hidden: "" });
  const row = element("div", { class: "overview" }, element("h3", {}, button));
  row.append(...parsed(proposition.phrases));
  button.addEventListener("click", () => {
    if (player.isOpen(detail)) player.close();
    else choose(s, proposition, null, false);
    rememberSoon();
  });
  return element("div", { class: "proposition" }, row, detail);
}

// Open the given view, or else the proposition with most arguments of the first sentence with any.
function choosePlace({ s, p, i = null, play }) {
  const wanted = sentences[s]?.propositions.find((each) => each.predicate === p);
  if (wanted) return choose(s, wanted, i, play);
  const first = sentences.findIndex((sentence) => sentence.propositions.length);
  if (first < 0) return;
  const fullest = sentences[first].propositions.reduce((best, each) =>
    each.n_arguments > best.n_arguments ? each : best,
  );
  choose(first, fullest, null, play);
}

function choose(s, proposition, iteration, play) {
  const detail = byId(`detail-${s}-${proposition.predicate}`);
  if (!detail.childElementCount) {
    const drawing = element("div", { class: "capsrl-drawing" }, ...parsed(proposition.drawing));
    const side = element("div", { class: "side" }, ...parsed(proposition.table));
    enlarge([...drawing.querySelectorAll("svg")]);
    detail.append(element("div", { class: "figure" }, drawing), side);
  }
  player.open(detail, { s, ...proposition }, iteration);
  if (play && !calm.matches) player.play();
}

// The meaning of a role must not reach past the right edge of the window.
function keepInside({ target }) {
  const tip = target.closest?.(".capsrl [tabindex]")?.querySelector(".capsrl-tip");
  if (!tip) return;
  tip.style.translate = "";
  const past = tip.getBoundingClientRect().right + 8 - document.documentElement.clientWidth;
  if (past > 0) tip.style.translate = `${-past}px`;
}

// Nodes of HTML that the server wrote and escaped; scripts in it would not run.
function parsed(html) {
  return new DOMParser().parseFromString(html, "text/html").body.childNodes;
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// Short sentences leave room: their drawings grow.
function enlarge(lines) {
  const widest = Math.max(...lines.map((line) => Number(line.getAttribute("width"))));
  const scale = Math.min(MOST_SCALE, Math.max(1, asked.width / widest));
  for (const line of lines)
    for (const side of ["width", "height"])
      line.setAttribute(side, scale * Number(line.getAttribute(side)));
}

function drawingWidth() {
  return Math.max(100, Math.round(byId("probe").firstElementChild.clientWidth) || 300);
}

// Drawings are made for the width of the screen: ask again when it changes.
function fit() {
  clearTimeout(fit.timer);
  fit.timer = setTimeout(() => {
    const room = byId("probe").clientWidth; // 0 when printing
    if (!asked || !room || Math.abs(drawingWidth() - asked.width) < 8) return;
    ask({ text: asked.text, n: asked.n }, player.detail && { ...player.place, play: false });
  }, 250);
}

function rememberSoon() {
  clearTimeout(timer); // browsers limit how often the address may change
  timer = setTimeout(remember, 200);
}

function remember() {
  if (!asked) return;
  const address = new URLSearchParams({ text: asked.text, ...(asked.n && { n: asked.n }) });
  for (const [name, value] of Object.entries(player.place)) address.set(name, value);
  history.replaceState(null, "", `#${address}`);
}

async function copyLink() {
  clearTimeout(timer);
  remember();
  try {
    await navigator.clipboard.writeText(location.href);
    byId("status").textContent = "Link copied.";
  } catch {
    byId("status").textContent = "Copy the link from the address bar."; // no clipboard without https
  }
}

async function download(format, suffix) {
  try {
    const response = await post(`label?format=${format}`, asked, {});
    let content = await response.text();
    if (format === "json") // JSON Lines: one sentence per line, which every command of capsrl reads
      content = JSON.parse(content).sentences.map((each) => `${JSON.stringify(each)}\n`).join("");
    save(`capsrl.${suffix}`, "text/plain;charset=utf-8", content);
  } catch (error) {
    showError(error.message);
  }
}
