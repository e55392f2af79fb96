// The page: sends the text to the server, which answers with HTML; opens one proposition and shows
// its iterations; pins one view beside another. The address describes what is shown (#text, n:
// number of iterations, s: sentence, p: predicate, i: iteration; the same with c- for the pinned
// view), so that opening it shows the same again.

import { Player, save } from "./player.js";
import { writeCode } from "./code.js";

const byId = (id) => document.getElementById(id);
const player = new Player(rememberSoon);
const MOST_SCALE = 1.5;
const FIRST_WIDTH = 560; // of the drawing that comes with the page

let asked = null; // {text, n, width}: the request that the sentences answer
let pinned = null; // {text, n, s, p, i} of the pinned view
let request = null; // the AbortController of the current request
let timer = null;

byId("examples").open = matchMedia("(min-width: 48rem)").matches;
byId("token").value = sessionStorage.getItem("token") ?? "";
byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask({ text: byId("text").value, n: "" }, {});
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
});
byId("examples").addEventListener("click", (event) => {
  const link = event.target.closest("a");
  if (!link) return;
  const text = new URLSearchParams(link.hash.slice(1)).get("text");
  link.hash = withPinned(new URLSearchParams({ text })); // where the browser goes next
  if (!matchMedia("(min-width: 48rem)").matches) byId("examples").open = false;
  if (link.hash === location.hash) restore(); // then hashchange does not fire
});
byId("sentences").addEventListener("click", (event) => {
  const word = event.target.closest("a[data-p]");
  const button = event.target.closest(".overview button");
  if (!word && !button) return;
  event.preventDefault();
  const proposition = word ? byId(word.hash.slice(1)) : button.closest(".proposition");
  if (button && player.isOpen(proposition)) player.close();
  else choose(proposition, null);
  if (word) proposition.closest("li").querySelector("h2:not([hidden]) [aria-current]").focus();
  rememberSoon();
});
document.addEventListener("keydown", (event) => { // closes the meaning of a role
  if (event.key === "Escape") document.activeElement.closest(".capsrl [tabindex]")?.blur();
});
for (const event of ["focusin", "pointerover"]) document.addEventListener(event, keepInside);
for (const [format, suffix] of [["json", "jsonl"], ["csv", "csv"], ["conll09", "conll09"]]) {
  byId(`save-${format}`).addEventListener("click", () => download(format, suffix));
}
player.part("copy-link").addEventListener("click", () => {
  clearTimeout(timer);
  remember();
  copy(location.href, "Link");
});
player.part("pin").addEventListener("click", () => {
  pin();
  remember();
});
byId("unpin").addEventListener("click", () => {
  unpin();
  remember();
});
byId("copy-code").addEventListener("click", () => copy(byId("code").textContent, "Code"));
for (const button of document.querySelectorAll("[data-code]"))
  button.addEventListener("click", () => {
    for (const each of document.querySelectorAll("[data-code]"))
      each.setAttribute("aria-pressed", String(each === button));
    showCode();
  });
window.addEventListener("hashchange", async () => {
  if (!location.hash.includes("text=")) return openRoles(); // a link to a part of the page
  await restore();
  byId("results").scrollIntoView({ block: "nearest" });
});
new ResizeObserver(fit).observe(byId("probe"));
openRoles();
start();

// The page comes with its first example: nothing is asked unless the address has another text.
function start() {
  const first = document.body.dataset.first;
  if (first) {
    asked = { text: first, n: "", width: FIRST_WIDTH };
    const open = document.querySelector(".proposition.open");
    if (open) choose(open, null);
    byId("status").textContent = counted();
  }
  byId("results").hidden = !first;
  showCode();
  if (location.hash.includes("text=")) restore();
}

function openRoles() {
  if (location.hash === "#roles") byId("roles").open = true;
}

// Show what the address describes, first the view that is pinned.
async function restore() {
  clearTimeout(timer); // the address must not change to an older view
  const address = new URLSearchParams(location.hash.slice(1));
  const other = view(address, "c-");
  const wanted = view(address, "");
  if (other.text !== null && JSON.stringify(other) !== JSON.stringify(pinned)) {
    await show(other);
    if (player.detail) pin();
  } else if (other.text === null) unpin();
  return show(wanted);
}

function view(address, prefix) {
  const number = (name) =>
    /^\d{1,6}$/.test(address.get(prefix + name) ?? "") ? Number(address.get(prefix + name)) : null;
  const n = address.get(`${prefix}n`) ?? "";
  return { text: address.get(`${prefix}text`), n, s: number("s"), p: number("p"), i: number("i") };
}

function show({ text, n, ...place }) {
  byId("text").value = text;
  const fits = asked && Math.abs(drawingWidth() - asked.width) < 8;
  if (fits && asked.text === text && asked.n === n) return choosePlace(place);
  return ask({ text, n }, place);
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
  request = null;
  byId("form").removeAttribute("aria-busy");
  byId("status").textContent = "";
  showError(message);
  if (!answer) {
    if (question.text !== asked?.text || question.n !== asked.n) {
      asked = null; // the old result must not stand below another text
      showSentences("");
    }
    return;
  }
  asked = { ...question, width };
  showSentences(answer.html);
  byId("note").textContent = answer.note;
  byId("note").hidden = !answer.note;
  if (place) choosePlace(place);
  byId("status").textContent = counted();
  showCode();
  if (pinned || place) rememberSoon();
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
  if (response.ok) sessionStorage.setItem("token", byId("token").value);
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
  const [s, n] = ["#sentences > li", "#sentences .proposition"].map(
    (each) => document.querySelectorAll(each).length,
  );
  if (!s) return "The text is empty.";
  if (!n) return "No predicates found.";
  const some = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  return `${some(n, "predicate")} in ${some(s, "sentence")}.`;
}

// All propositions of all sentences, as HTML that the server wrote and escaped; scripts in it would
// not run.
function showSentences(html) {
  player.close();
  byId("note").hidden = true;
  const parsed = new DOMParser().parseFromString(`<ol>${html}</ol>`, "text/html");
  byId("sentences").replaceChildren(...parsed.querySelectorAll("ol > li"));
  byId("results").hidden = !html;
}

// Open the given view, or else the proposition with most arguments of the first sentence with any.
function choosePlace({ s = 0, p = null, i = null }) {
  const wanted = byId(`s${s ?? 0}p${p}`);
  if (wanted) return choose(wanted, i);
  const first = document.querySelector("#sentences .proposition")?.closest("li");
  if (!first) return;
  const size = (each) => each.querySelectorAll(".capsrl-phrase").length;
  const all = [...first.querySelectorAll(".proposition")];
  choose(all.reduce((best, each) => (size(each) > size(best) ? each : best)), null);
}

function choose(proposition, iteration) {
  const detail = proposition.querySelector(".detail");
  if (!detail.dataset.drawn) enlarge([...detail.querySelectorAll("svg")]);
  detail.dataset.drawn = "yes";
  player.open(proposition, iteration);
}

// Keep a copy of the open view beside what is shown next.
function pin() {
  pinned = { text: asked.text, n: asked.n, ...Object.fromEntries(
    Object.entries(player.place).map(([name, value]) => [name, Number(value)]),
  ) };
  const sentence = player.proposition.closest("li");
  const drawing = player.detail.querySelector(".capsrl-drawing");
  const parts = [sentence.querySelector("h2:not([hidden])"), ...player.proposition
    .querySelectorAll(".overview"), drawing, player.detail.querySelector("table")];
  byId("pinned-view").replaceChildren(...parts.filter(Boolean).map((part) => part.cloneNode(true)));
  for (const each of byId("pinned-view").querySelectorAll("a, button")) {
    const plain = document.createElement(each.matches("a") ? "b" : "span"); // opens nothing here
    plain.ariaCurrent = each.ariaCurrent;
    plain.append(...each.childNodes);
    each.replaceWith(plain);
  }
  byId("pinned-name").textContent =
    `Pinned: ${player.proposition.dataset.sense}, iteration ${player.iteration} of ${player.last}`;
  byId("pinned").hidden = false;
  byId("both").classList.add("two");
}

function unpin() {
  pinned = null;
  byId("pinned").hidden = true;
  byId("both").classList.remove("two");
}

// The meaning of a role must not reach past the right edge of the window.
function keepInside({ target }) {
  const tip = target.closest?.(".capsrl [tabindex]")?.querySelector(".capsrl-tip");
  if (!tip) return;
  tip.style.translate = "";
  const past = tip.getBoundingClientRect().right + 8 - document.documentElement.clientWidth;
  if (past > 0) tip.style.translate = `${-past}px`;
}

// Short sentences leave room: their drawings grow.
function enlarge(lines) {
  const widest = Math.max(...lines.map((line) => Number(line.getAttribute("width"))));
  const scale = Math.min(MOST_SCALE, Math.max(1, drawingWidth() / widest));
  for (const line of lines)
    for (const side of ["width", "height"])
      line.setAttribute(side, scale * Number(line.getAttribute(side)));
}

function drawingWidth() {
  const columns = pinned && matchMedia("(min-width: 64rem)").matches ? 2 : 1;
  const room = columns === 2 ? byId("probe").clientWidth / 2 - 40
    : byId("probe").firstElementChild.clientWidth;
  return Math.max(100, Math.round(room) || 300);
}

// Drawings are made for the width of the screen: ask again when it changes.
function fit() {
  clearTimeout(fit.timer);
  fit.timer = setTimeout(() => {
    const room = byId("probe").clientWidth; // 0 when printing
    if (request) return fit(); // its answer must not be lost
    if (!asked || !room || Math.abs(drawingWidth() - asked.width) < 8) return;
    const drawn = player.detail?.querySelectorAll("svg") ?? [];
    if (drawn.length === 1 && drawn[0].viewBox.baseVal.width <= drawingWidth()) return; // it fits
    const { s, p, i } = player.place;
    ask({ text: asked.text, n: asked.n }, player.detail && { s, p, i });
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
  history.replaceState(null, "", `#${withPinned(address)}`);
}

function withPinned(address) {
  for (const [name, value] of Object.entries(pinned ?? {}))
    if (value !== "") address.set(`c-${name}`, value);
  return address;
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    byId("status").textContent = `${what} copied.`;
  } catch { // no clipboard without https
    byId("status").textContent = `Copy the ${what.toLowerCase()} by hand.`;
  }
}

async function showCode() {
  const { code } = document.querySelector("[data-code][aria-pressed=true]").dataset;
  const question = asked ?? { text: byId("text").value, n: "" };
  const model = document.body.dataset.model;
  try {
    const label = async () => (await post("label", question, {})).json();
    byId("code").textContent = await writeCode(code, question, model, label);
  } catch (error) {
    byId("code").textContent = error.message;
  }
}

async function download(format, suffix) {
  try {
    const response = await post(`label?format=${format}`, asked, {});
    let content = await response.text();
    if (format === "json") // JSON Lines: one sentence per line, which every command of capsrl reads
      content = JSON.parse(content).sentences.map((each) => `${JSON.stringify(each)}\n`).join("");
    save(`capsrl.${suffix}`, new Blob([content], { type: "text/plain;charset=utf-8" }));
  } catch (error) {
    showError(error.message);
  }
}
