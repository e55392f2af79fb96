"use strict";
const form = document.getElementById("filters");
const articles = Array.from(document.querySelectorAll("article"), (article) => ({
  article,
  mistakes: JSON.parse(article.dataset.mistakes),
  text: article.textContent.toLowerCase(),
}));

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

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
