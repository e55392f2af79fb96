// The page: sends the text to the server, lists the sentences, and shows one proposition at a time.
// The address always describes what is shown (#text, n: number of iterations, s: sentence,
// p: predicate, i: iteration), so that opening it shows the same again.

import { save, toConll09, toJsonl } from "./files.js";
import { View } from "./view.js";

const byId = (id) => document.getElementById(id);
const view = new View(rememberSoon);
view.part("copy-link").addEventListener("click", copyLink);

let asked = null; // {text, n}: the request that the sentences answer
let sentences = [];
let chosen = null; // {s, p}: number of the sentence, position of the predicate
let request = null; // the AbortController of the current request
let timer = null;

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  ask({ text: byId("text").value, n: byId("iterations").value });
});
byId("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("form").requestSubmit();
});
byId("iterations").addEventListener("change", () => {
  if (asked && byId("text").value === asked.text) byId("form").requestSubmit();
});
byId("examples").addEventListener("click", (event) => {
  // A click on a link to the current address does not fire hashchange.
  if (event.target.hash === location.hash) restore();
});
byId("save-json").addEventListener("click", () => {
  save("capsrl.jsonl", "application/jsonl", toJsonl(sentences));
});
byId("save-conll09").addEventListener("click", () => {
  save("capsrl.conll09", "text/plain;charset=utf-8", toConll09(sentences));
});
window.addEventListener("hashchange", async () => {
  await restore();
  byId("results").scrollIntoView({ block: "nearest" }); // the examples are below the results
});
restore();

// Show what the address describes, if it describes anything.
async function restore() {
  const address = new URLSearchParams(location.hash.slice(1));
  const text = address.get("text");
  if (text === null) return;
  clearTimeout(timer); // the address must not change to an older view
  const wanted = { text, n: address.get("n") ?? "" };
  byId("text").value = text;
  byId("iterations").value = wanted.n;
  const number = (name) =>
    /^\d{1,6}$/.test(address.get(name) ?? "") ? Number(address.get(name)) : null;
  const place = { s: number("s") ?? 0, p: number("p"), i: number("i") };
  if (asked && asked.text === text && asked.n === wanted.n) choosePlace(place);
  else await ask(wanted, place);
}

// Label a text and show the result. `place` is the view to open, if there is such a one.
async function ask(question, place = null) {
  request?.abort();
  const mine = (request = new AbortController());
  showError("");
  byId("status").textContent = "Labeling…";
  byId("form").setAttribute("aria-busy", "true");
  let answer = null;
  let message = "";
  try {
    answer = await post(question, mine.signal);
  } catch (error) {
    message = error.message;
  }
  if (mine !== request) return; // another request has replaced this one
  byId("form").removeAttribute("aria-busy");
  byId("status").textContent = "";
  showError(message);
  if (!answer) return;
  asked = question;
  showSentences(answer.sentences);
  choosePlace(place);
  byId("status").textContent = counted();
}

async function post({ text, n }, signal) {
  const headers = { "Content-Type": "application/json" };
  if (byId("token").value) headers.Authorization = `Bearer ${byId("token").value}`;
  const body = JSON.stringify({ text, trace: true, ...(n && { iterations: Number(n) }) });
  let response;
  try {
    response = await fetch("label", { method: "POST", headers, body, signal });
  } catch (error) {
    throw new Error(`The server does not respond: ${error.message}.`);
  }
  byId("token-row").hidden = response.status !== 401;
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  const detail = answer?.detail ?? response.statusText;
  const said = typeof detail === "string" ? detail : JSON.stringify(detail);
  const wait = response.headers.get("Retry-After");
  throw new Error(
    `${said || `Error ${response.status}`}${wait ? ` (try again in ${wait} s)` : ""}`,
  );
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

function showSentences(answer) {
  sentences = answer;
  chosen = null;
  view.stop();
  view.section.remove();
  byId("results").hidden = !sentences.length;
  byId("choose-hint").hidden = !sentences.some((sentence) => sentence.propositions.length);
  byId("sentences").replaceChildren(...sentences.map(sentenceItem));
}

function sentenceItem(sentence, s) {
  const item = document.createElement("li");
  const line = document.createElement("p");
  line.dir = "auto";
  sentence.words.forEach((word, place) => {
    line.append(spaceBefore(sentence, place));
    const proposition = sentence.propositions.find((each) => each.predicate === place);
    line.append(proposition ? predicateButton(word, proposition, s) : word);
  });
  item.append(line);
  if (!sentence.propositions.length) {
    const note = document.createElement("p");
    note.className = "hint";
    note.textContent = "No predicates found.";
    item.append(note);
  }
  return item;
}

function predicateButton(word, proposition, s) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "predicate";
  button.textContent = word;
  button.title = proposition.sense ?? "";
  button.setAttribute("aria-pressed", "false");
  button.dataset.place = `${s} ${proposition.predicate}`;
  button.addEventListener("click", () => choose(s, proposition.predicate, null));
  return button;
}

// The text between two words: a space, unless they touch in the text.
function spaceBefore({ offsets }, place) {
  if (place === 0) return "";
  return offsets && offsets[place][0] === offsets[place - 1][1] ? "" : " ";
}

// Open the given view, or else the proposition with most arguments of the first sentence with any.
function choosePlace(place) {
  const wanted = sentences[place?.s]?.propositions.find((each) => each.predicate === place.p);
  if (wanted) return choose(place.s, place.p, place.i);
  const s = sentences.findIndex((sentence) => sentence.propositions.length);
  if (s < 0) return remember();
  const fullest = sentences[s].propositions.reduce((best, each) =>
    each.arguments.length > best.arguments.length ? each : best,
  );
  return choose(s, fullest.predicate, null);
}

function choose(s, p, iteration) {
  chosen = { s, p };
  for (const button of document.querySelectorAll("button.predicate")) {
    button.setAttribute("aria-pressed", String(button.dataset.place === `${s} ${p}`));
  }
  const item = byId("sentences").children[s];
  if (view.section.parentNode !== item) item.append(view.section);
  view.open(
    sentences[s],
    sentences[s].propositions.find((each) => each.predicate === p),
    iteration,
  );
}

function rememberSoon() {
  clearTimeout(timer); // browsers limit how often the address may change
  timer = setTimeout(remember, 200);
}

function remember() {
  const address = new URLSearchParams({ text: asked.text, ...(asked.n && { n: asked.n }) });
  if (chosen) {
    for (const [name, value] of Object.entries({ ...chosen, i: view.iteration }))
      address.set(name, value);
  }
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
