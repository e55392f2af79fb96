// Files for download.

// JSON Lines: one sentence per line, which every command of capsrl reads.
export function toJsonl(sentences) {
  return sentences.map((sentence) => `${JSON.stringify(sentence)}\n`).join("");
}

// CoNLL-2009 as capsrl.data.conll09 writes it: gold and predicted columns are the same.
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
  // A download that has begun no longer needs the URL.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
