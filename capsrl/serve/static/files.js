// Labelled sentences in, files to keep out.

// One sentence per line, as `capsrl label --format json` writes them and every command reads them.
export function toJsonl(sentences) {
  return sentences.map((sentence) => `${JSON.stringify(sentence)}\n`).join("");
}

// What capsrl.data.conll09 writes: gold and predicted columns alike, `_` for nothing.
export function toConll09(sentences) {
  return sentences
    .filter((sentence) => sentence.words.length)
    .map(rowsOf)
    .join("");
}

function rowsOf({ words, lemmas, tags, propositions }) {
  const rows = words.map((word, place) => {
    const [lemma, tag] = [lemmas?.[place], tags?.[place]].map(cellOf);
    const proposition = propositions.find((each) => each.predicate === place);
    const predicate = proposition ? ["Y", proposition.sense ?? "_"] : ["_", "_"];
    const roles = propositions.map((each) => {
      const held = each.arguments.filter((argument) => argument.word === place);
      return held.map((argument) => argument.role).join("|") || "_";
    });
    const syntax = Array(6).fill("_"); // FEAT PFEAT HEAD PHEAD DEPREL PDEPREL
    return [
      place + 1,
      cellOf(word),
      lemma,
      lemma,
      tag,
      tag,
      ...syntax,
      ...predicate,
      ...roles,
    ].join("\t");
  });
  return `${rows.join("\n")}\n\n`;
}

function cellOf(value) {
  return (value ?? "").replace(/\s/gu, "_") || "_";
}

export function save(name, type, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  // The download has its own hold on the blob once it has begun.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
