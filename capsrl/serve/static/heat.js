// The table of role probabilities: one row per word, one column per role.

import { N_HUES } from "./arcs.js";
import { shown } from "./beliefs.js";

// Fill `table` for the given words; returns a function that shows the probabilities after `step`.
export function makeTable(table, words, history, positions) {
  const columns = [...history.roles, null]; // null: no role, last because it matters least
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
    row.classList.toggle("predicate", word === history.predicate);
  }
  const caption = cell("caption", "", {});
  table.replaceChildren(caption, head, body);
  return (step) => {
    caption.textContent =
      step === 0
        ? "Role probabilities before the first iteration"
        : `Role probabilities after iteration ${step}`;
    for (const each of cells) showCell(each, history, step);
  };
}

function showCell({ made, word, role }, history, step) {
  const prob = history.prob(step, word, role);
  made.textContent = shown(prob);
  made.style.setProperty("--prob", prob);
  made.classList.toggle("nil", prob < 0.005);
  const pair = history.pairs.find((each) => each.word === word && each.role === role);
  const state = pair ? history.state(step, pair) : "";
  made.classList.toggle("now", state === "now");
  made.classList.toggle("past", state === "past");
  if (state === "past") made.title = "role of an earlier iteration";
  else made.removeAttribute("title");
}

function cell(name, content, attributes) {
  const made = document.createElement(name);
  made.textContent = content;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
