"use strict";
const form = document.getElementById("filters");
const articles = Array.from(document.querySelectorAll("article"), (article) => ({
  article,
  mistakes: JSON.parse(article.dataset.mistakes),
  text: article.textContent.toLowerCase(),
}));

// The choices of a filter, the most frequent first.
function addChoices(name, all, values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const choices = [...counts].sort(([, first], [, second]) => second - first);
  const shown = ([value, count]) => new Option(`${value} (${count.toLocaleString("en")})`, value);
  form.elements[name].append(new Option(all, ""), ...choices.map(shown));
}

function fits({ mistakes, text }, { kind, role, wanted }) {
  const found = mistakes.some(([its, ...roles]) => (!kind || its === kind) && (!role || roles.includes(role)));
  return found && text.includes(wanted);
}

function filter() {
  const values = new FormData(form);
  const chosen = { kind: values.get("kind"), role: values.get("role"), wanted: values.get("text").trim().toLowerCase() };
  let shown = 0;
  for (const each of articles) {
    each.article.hidden = !fits(each, chosen);
    shown += !each.article.hidden;
  }
  form.querySelector("output").textContent = `${shown.toLocaleString("en")} shown`;
}

const mistakes = articles.flatMap((each) => each.mistakes);
addChoices("kind", `all kinds (${mistakes.length.toLocaleString("en")})`, mistakes.map(([kind]) => kind));
addChoices("role", "all roles", mistakes.flatMap(([, ...roles]) => roles));
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
