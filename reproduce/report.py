"""Write the report: report.md.j2 filled with tables and figures, as Markdown and as HTML."""

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

from capsrl.errors import ConfigError, DataError
from reproduce import figures, published, tables
from reproduce.claims import Finding, Verdict, evaluate, evaluate_languages, tally
from reproduce.corpora import CorpusRuns, gains, group_runs
from reproduce.formatting import escape, number, table
from reproduce.results import RunResult, read_results

STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2em auto; padding: 0 1em; }
h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: .87em; display: block; overflow-x: auto; }
th, td { padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: left; }
td[style] { white-space: nowrap; font-variant-numeric: tabular-nums; }
p, ul { max-width: 48rem; }
img { width: 720px; max-width: 100%; }
"""


def write_report(runs: Path, out: Path) -> list[Path]:
    """Write `out`, the same as .md beside it, and figures/*.svg; return all paths.

    The same results give the same files. Raises ConfigError if `out` is not an .html file in an
    existing folder, and DataError if there are no results or they cannot be compared.
    """
    if out.suffix != ".html":
        raise ConfigError(f"{out}: expected a name that ends in .html, got {out.suffix or 'none'}")
    if not out.parent.is_dir():
        raise ConfigError(f"{out}: expected an existing folder, got {out.parent}; make it first")
    results = read_results(runs)
    if not results:
        raise DataError(
            f"{runs}: expected a folder with results (*.jsonl, *.jsonl.xz), got none; make them "
            "with python -m reproduce run PLAN"
        )
    notes = runs / "notes.md"
    text = notes.read_text(encoding="utf-8").strip() if notes.exists() else ""
    markdown, drawn = make_report(results, text)
    folder = out.parent / "figures"
    texts = {out: to_html(markdown, drawn), out.with_suffix(".md"): markdown}
    texts |= {folder / f"{name}.svg": svg for name, svg in drawn.items()}
    folder.mkdir(exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return list(texts)


def make_report(runs: Sequence[RunResult], notes: str = "") -> tuple[str, dict[str, str]]:
    """The report as Markdown, and its figures: file name without suffix -> SVG."""
    corpora = group_runs(runs)
    full = sorted(  # English first, as in the paper
        (corpus for corpus in corpora if corpus.is_full),
        key=lambda corpus: (corpus.first.paper != "en", corpus.first.language, corpus.name),
    )
    drawn: dict[str, str] = {}

    def figure(name: str, svg: str) -> str:
        """Keep a figure for its file; return the path for the Markdown image."""
        name = re.sub(r"[^A-Za-z0-9._-]", "-", name)
        drawn[name] = svg
        return f"figures/{name}.svg"

    findings = {corpus.name: evaluate(corpus) for corpus in full}
    findings["all corpora"] = evaluate_languages(corpora)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - it is Markdown
    )
    text = environment.get_template("report.md.j2").render(
        runs=runs,
        trainings={run.training: run for run in runs}.values(),
        corpora=corpora,
        full=full,
        notes=notes,
        findings=findings,
        tally_table=_tally_table(findings),
        gains={measure: [d for _, d in gains(corpora, measure)] for measure in ("F1", "EM")},
        hours=lambda runs: number(sum(run.seconds for run in runs) / 3600, 1),
        title=_title,
        by_theme=_by_theme,
        claims_table=_claims_table,
        figure=figure,
        figures=figures,
        published=published,
        tables=tables,
    )
    return re.sub("\n{3,}", "\n\n", text).strip() + "\n", drawn


def _by_theme(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    themes: dict[str, list[Finding]] = {}
    for finding in findings:
        themes.setdefault(finding.claim.theme, []).append(finding)
    return themes


def _claims_table(findings: Sequence[Finding]) -> str:
    rows = [[f.claim.text, f.claim.paper, f.ours, f"**{f.verdict}**"] for f in findings]
    return table(["claim", f"paper ({published.DATA})", "here", "verdict"], rows, 4)


def _tally_table(findings: Mapping[str, Sequence[Finding]]) -> str:
    """The number of claims by corpus, theme and verdict."""
    rows = [
        [name, theme, *(str(n or "") for n in tally(found).values())]
        for name, of_corpus in findings.items()
        for theme, found in _by_theme(of_corpus).items()
    ]
    total = tally(finding for of_corpus in findings.values() for finding in of_corpus)
    rows.append(["**all**", "", *(f"**{n}**" for n in total.values())])
    return table(["corpus", "question", *(verdict.lower() for verdict in Verdict)], rows, 2)


def _title(corpus: CorpusRuns) -> str:
    words = ", ".join(filter(None, (corpus.first.language, corpus.first.encoder)))
    return escape(f"{corpus.name} ({words})" if words else corpus.name)


def to_html(markdown: str, drawn: Mapping[str, str]) -> str:
    """The page of a Markdown text, with its figures/NAME.svg embedded."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    for name, svg in drawn.items():
        data = base64.b64encode(svg.encode()).decode()
        body = body.replace(f'src="figures/{name}.svg"', f'src="data:image/svg+xml;base64,{data}"')
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Results</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )
