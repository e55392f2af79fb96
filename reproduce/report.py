"""Write the report: report.md.j2 filled with tables and figures, as Markdown and as HTML."""

import base64
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

from capsrl.errors import ConfigError, DataError
from reproduce import example, figures, published, tables
from reproduce.claims import Finding, Verdict, evaluate, evaluate_languages, tally
from reproduce.corpora import CorpusRuns, gains, group_runs
from reproduce.formatting import NONE, counted, csv_text, escape, number, table
from reproduce.plan import DRAWN
from reproduce.results import RunResult, read_results
from reproduce.verdict import verdict

STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2em auto; padding: 0 1em; }
h2 { margin-top: 2em; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; font-size: .87em; display: block; overflow-x: auto; }
th, td { padding: .25em .6em; border-bottom: 1px solid #ddd; text-align: left; }
td[style] { white-space: nowrap; font-variant-numeric: tabular-nums; }
p, ul { max-width: 48rem; }
img { width: 720px; max-width: 100%; }
"""


def write_report(
    runs: Path, out: Path, *, only: str | None = None, names: Collection[str] = ()
) -> list[Path]:
    """Write `out`, the same as .md beside it, and figures and CSV in OUT.files; return all paths.

    The same results give the same files.

    only   a table or figure, such as table3
    names  of the runs to use; all runs of the folder by default
    Raises ConfigError if `out` is not an .html file in an existing folder, and DataError if there
    are no results or they cannot be compared.
    """
    if out.suffix != ".html":
        raise ConfigError(f"{out}: expected a name that ends in .html, got {out.suffix or 'none'}")
    if not out.parent.is_dir():
        raise ConfigError(f"{out}: expected an existing folder, got {out.parent}; make it first")
    results = [run for run in read_results(runs) if not names or run.name in names]
    if not results and only not in DRAWN:
        raise DataError(
            f"{runs}: expected a folder with results (*.jsonl, *.jsonl.xz), got none; make them "
            "with python -m reproduce run PLAN"
        )
    texts = [runs / name for name in ("discussion.md", "notes.md")]
    discussion, notes = (
        path.read_text(encoding="utf-8").strip() if path.exists() else "" for path in texts
    )
    folder = f"{out.stem}.files"
    markdown, files = make_report(results, notes, discussion, only=only, folder=folder)
    written = {out: to_html(markdown, files), out.with_suffix(".md"): markdown}
    written |= {out.parent / name: content for name, content in files.items()}
    for path, text in written.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(written)


def make_report(
    runs: Sequence[RunResult],
    notes: str = "",
    discussion: str = "",
    *,
    only: str | None = None,
    folder: str = "files",
) -> tuple[str, dict[str, str]]:
    """The report as Markdown, and its other files: path beside the report -> text.

    notes, discussion  Markdown written by hand
    only               one table or figure, with no more than it needs
    folder             of the other files
    """
    corpora = group_runs(runs)
    full = sorted(  # English first, as in the paper
        (corpus for corpus in corpora if only or corpus.is_full),
        key=lambda corpus: (corpus.first.paper != "en", corpus.first.language, corpus.name),
    )
    files: dict[str, str] = {}

    def figure(name: str, svg: str) -> str:
        """Keep a figure for its file; return the path for the Markdown image."""
        path = f"{folder}/{re.sub(r'[^A-Za-z0-9._-]', '-', name)}.svg"
        files[path] = svg
        return path

    def data(name: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """Keep a table for its CSV file; return the path for the Markdown link."""
        path = f"{folder}/{name}.csv"
        files[path] = csv_text(head, rows)
        return path

    on_variants = {} if only else {corpus.name: evaluate(corpus) for corpus in full}
    on_languages = {} if only else {"all corpora": evaluate_languages(corpora)}
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - it is Markdown
    )
    text = environment.get_template("report.md.j2").render(
        only=only,
        wants=lambda *names: only is None or only in names,
        verdict=verdict,
        runs=runs,
        trainings={run.training: run for run in runs}.values(),
        corpora=corpora,
        full=full,
        notes=notes,
        discussion=discussion,
        themes=_by_theme(on_variants) | _by_theme(on_languages),
        tally_table=_tally_table(on_variants | on_languages),
        gains={measure: [d for _, d in gains(corpora, measure)] for measure in ("F1", "EM")},
        counted=counted,
        hours=lambda runs: number(sum(run.seconds for run in runs) / 3600, 1),
        title=_title,
        rows=lambda corpora, rows_of: [row for corpus in corpora for row in rows_of(corpus)],
        claims_table=_claims_table,
        figure=figure,
        data=data,
        example=example,
        figures=figures,
        published=published,
        tables=tables,
    )
    return re.sub("\n{3,}", "\n\n", text).strip() + "\n", files


def _by_theme(
    findings: Mapping[str, Sequence[Finding]],
) -> dict[str, dict[str, list[Finding]]]:
    """The findings of each theme, by corpus."""
    themes: dict[str, dict[str, list[Finding]]] = {}
    for corpus, found in findings.items():
        for finding in found:
            themes.setdefault(finding.claim.theme, {}).setdefault(corpus, []).append(finding)
    return themes


def _claims_table(findings: Mapping[str, Sequence[Finding]]) -> str:
    """The claims of one theme that were measured, with the verdict on each corpus."""
    head = ["claim", f"paper ({published.DATA})", *findings]
    rows = [
        [found[0].claim.text, found[0].claim.paper, *(_verdict(finding) for finding in found)]
        for found in zip(*findings.values(), strict=True)
        if any(finding.verdict is not Verdict.MISSING for finding in found)
    ]
    return table(head, rows, len(head)) if rows else ""


def _verdict(finding: Finding) -> str:
    if finding.verdict is Verdict.MISSING:
        return NONE
    return f"{finding.ours}: **{finding.verdict.lower()}**"


def _tally_table(findings: Mapping[str, Sequence[Finding]]) -> str:
    """The number of claims by corpus and verdict."""
    counts = {name: tally(found) for name, found in findings.items()}
    counts["**all**"] = tally(finding for found in findings.values() for finding in found)
    rows = [[name, *(str(n or "") for n in found.values())] for name, found in counts.items()]
    return table(["corpus", *(verdict.lower() for verdict in Verdict)], rows)


def _title(corpus: CorpusRuns) -> str:
    words = ", ".join(filter(None, (corpus.first.language, corpus.first.encoder)))
    return escape(f"{corpus.name} ({words})" if words else corpus.name)


def to_html(markdown: str, files: Mapping[str, str]) -> str:
    """The page of a Markdown text, with its figures embedded."""
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    for path, svg in files.items():
        data = base64.b64encode(svg.encode()).decode()
        body = body.replace(f'src="{path}"', f'src="data:image/svg+xml;base64,{data}"')
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>Results</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )
