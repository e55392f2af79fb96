// How to get what the page shows: a program of Python, a command for the shell, or the JSON itself.

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`; // for a POSIX shell

export async function writeCode(kind, { text, n }, model, label) {
  if (kind === "json") return JSON.stringify(await label(), null, 1);
  if (kind === "curl") {
    const body = JSON.stringify({ text, ...(n && { iterations: Number(n) }) });
    const url = new URL("label", location.href).href;
    return `curl ${url} -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;
  }
  const options = n ? `, iterations=${Number(n)}` : "";
  return `# pip install capsrl
import capsrl

labeler = capsrl.load(${JSON.stringify(model)})
for sentence in labeler.label(${JSON.stringify(text)}${options}):
    print(sentence)`;
}
