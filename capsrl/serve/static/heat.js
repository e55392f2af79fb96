// The table of words and roles: how likely each role is for each word after some iterations.

import { N_HUES } from "./arcs.js";
import { shown } from "./beliefs.js";

// Fill `table` for the words given; returns a function that shows the beliefs after `step`.
export function makeHeat(table, words, settling, positions) {
  const columns = [...settling.roles, null]; // null: no role, last, for it is the least telling
  const header = document.createElement("tr");
  header.append(cell("th", "Word", { scope: "col" }));
  for (const role of columns) header.append(cell("th", role ?? "none", { scope: "col" }));
  const head = document.createElement("thead");
  head.append(header);
  const body = document.createElement("tbody");
  const cells = [];
  for (const word of positions) {
    const row = document.createElement("tr");
    row.append(cell("th", words[word], { scope: "row" }));
    columns.forEach((role, column) => {
      const made = cell("td", "", { class: role === null ? "none" : `hue${column % N_HUES}` });
      row.append(made);
      cells.push({ made, word, role });
    });
    body.append(row);
    row.classList.toggle("predicate", word === settling.predicate);
  }
  const caption = cell("caption", "", {});
  table.replaceChildren(caption, head, body);
  return (step) => {
    caption.textContent =
      step === 0 ? "Beliefs before the first iteration" : `Beliefs after iteration ${step}`;
    for (const each of cells) showCell(each, settling, step);
  };
}

function showCell({ made, word, role }, settling, step) {
  const prob = settling.prob(step, word, role);
  made.textContent = shown(prob);
  made.style.setProperty("--prob", prob);
  made.classList.toggle("nil", prob < 0.005);
  const pair = settling.pairs.find((each) => each.word === word && each.role === role);
  const state = pair ? settling.state(step, pair) : "";
  made.classList.toggle("now", state === "now");
  made.classList.toggle("past", state === "past");
  if (state === "past") made.title = "given up";
  else made.removeAttribute("title");
}

function cell(name, content, attributes) {
  const made = document.createElement(name);
  made.textContent = content;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
