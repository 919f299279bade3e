"""The page "what each stage costs": files, lines and kernels from the tree, speed and memory from docs/performance/*.json."""

import json
import statistics

from rung_tools.chapter import Chapter, difference, previous_chapter
from rung_tools.diff import FileDiff
from rung_tools.errors import ToolError
from rung_tools.line_counts import text_lines

_PARTS = ("src", "tests", "bench")


def _engine_lines(chapter: Chapter):
    """Lines of src/, the engine itself."""
    return sum(len(text_lines(data)) for name, data in chapter.listed_files.items() if name.startswith("src/"))


def stage_rows(chapters):
    """One dict a chapter: files and lines that it adds, changes and removes, by folder, and the kernels that are new in it."""
    rows = []
    for chapter in chapters:
        before = previous_chapter(chapters, chapter)
        real = difference(before, chapter)
        old = before.listed_files if before else {}
        row = {"chapter": chapter, "files": [len(real[key]) for key in ("adds", "changes", "removes")], "kernels": [],
               "engine": _engine_lines(chapter), **{part: [0, 0] for part in _PARTS}}
        for name in real["adds"] + real["changes"] + real["removes"]:
            diff = FileDiff(name, old.get(name), chapter.listed_files.get(name))
            part = name.split("/", 1)[0]
            if part in _PARTS:
                row[part] = [a + b for a, b in zip(row[part], diff.counts())]
            if name.startswith("src/"):
                row["kernels"] += diff.new_kernels()
        rows.append(row)
    return rows


def _lines(counts):
    return f"+{counts[0]:,}" + (f" −{counts[1]:,}" if counts[1] else "")


def tree_table(chapters):
    out = ["| Chapter | Files new / changed / gone | `src/` | `tests/` | `bench/` | Lines of `src/` then | Kernels added |", "|---|---|---:|---:|---:|---:|---|"]
    for row in stage_rows(chapters):
        chapter = row["chapter"]
        kernels = ", ".join(f"`{name}`" for name in row["kernels"])
        out.append(f"| [{chapter.name}](../chapters/{chapter.name}/README.md) | {' / '.join(map(str, row['files']))} | {_lines(row['src'])} | {_lines(row['tests'])} "
                   f"| {_lines(row['bench'])} | {row['engine']:,} | {kernels} |")
    return "\n".join(out)


def _speeds(results):
    """(chapter, what was measured, median tokens a second) of Rung in one measurement of tools/performance, by chapter."""
    groups = {}

    def add(entry, what, speed):
        groups.setdefault((entry.get("chapter") or results["chapter"], what), []).append(speed)

    for entry in results.get("rounds", []):
        if entry["engine"] == "Rung":
            add(entry, f"{entry['model']}, {entry['threads']} threads, {entry['what']}", entry["tokens_per_second"])
    for entry in results.get("generate", []):
        add(entry, f"one sequence, prompt of {entry['prompt_tokens']}, {entry['name']}", entry["tokens_per_second"])
    for entry in results.get("batching", []):
        invariant = ", batch invariant" if entry["batch_invariant"] else ""
        add(entry, f"{entry['mix']}{invariant}, tokens of answers", entry["output_tokens_per_second"])
    return [(chapter, what, statistics.median(values)) for (chapter, what), values in sorted(groups.items())]


def measured_table(root):
    """Speeds that tools/performance has recorded, with the chapter, the machine and the date; says so where there is none."""
    out = []
    for path in sorted((root / "docs" / "performance").glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(record["results"], dict):  # a profile of kernels
                continue
            for chapter, what, speed in _speeds(record["results"]):
                out.append(f"| {chapter} | {what} | {speed:,.1f} | {record['machine']} | {record['date']} | `{path.name}` |")
        except (ValueError, KeyError, TypeError) as error:
            raise ToolError(f"{path}: not a measurement of tools/performance: {type(error).__name__} {error}") from None
    if not out:
        return "No measurement is recorded yet: `docs/performance/` holds none. `tools/performance` makes them."
    return "\n".join(["| Chapter | What | Tokens a second | Machine | Date | Recorded in |", "|---|---|---:|---|---|---|", *out])


def costs_page(root, chapters):
    return f"""# What each stage costs

What a chapter adds to the engine in code, and what it brings in speed. The first table is counted from the tree when this book is built; the
same lines stand in full behind "All changed lines" at the end of each chapter.

{tree_table(chapters)}

A changed line counts as one added and one removed. Kernels are `__global__` functions in `src/` that the chapter before did not have.

## Speed

{measured_table(root)}

What a stage's own measurements say (the memory of a KV cache, for example) stands in its chapter, beside the command that measured it.
"""
