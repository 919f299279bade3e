"""tools/stage diff --html: one self-contained page, readable in light and dark."""

import html

_STYLE = """
:root { color-scheme: light dark; --back: light-dark(#fff, #0d1117); --text: light-dark(#1f2328, #e6edf3);
  --faint: light-dark(#59636e, #9198a1); --line: light-dark(#d1d9e0, #3d444d); --box: light-dark(#f6f8fa, #151b23);
  --add: light-dark(#dafbe1, #12361f); --del: light-dark(#ffebe9, #46171b); --add-text: light-dark(#116329, #7ee2a0);
  --del-text: light-dark(#a40e26, #ffa198); --link: light-dark(#0969da, #6cb6ff); }
body { margin: 0 auto; padding: 1rem; max-width: 75rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); } table { border-collapse: collapse; }
.summary td, .summary th { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top; }
.summary { display: block; overflow-x: auto; }
.plus { color: var(--add-text); } .minus { color: var(--del-text); } .faint { color: var(--faint); }
details { margin: 1rem 0; border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
summary { padding: .4rem .7rem; background: var(--box); cursor: pointer; overflow-wrap: anywhere; }
.code { overflow-x: auto; } .code table { width: 100%; font: 13px/1.45 ui-monospace, monospace; }
.code td { padding: 0 .5rem; white-space: pre; } .code td.n { width: 1%; text-align: right; color: var(--faint); user-select: none; }
tr.a { background: var(--add); } tr.d { background: var(--del); } tr.h td { background: var(--box); color: var(--faint); }
"""


def _rows(diff):
    """Table rows of one file: three lines of context, numbers of both sides."""
    old, new, matcher = diff.opcodes()

    def row(kind, left, right, sign, text):
        return (f'<tr class="{kind}"><td class="n">{left}</td><td class="n">{right}</td>'
                f'<td>{sign}{html.escape(text)}</td></tr>')

    for group in matcher.get_grouped_opcodes(3):
        a0, a1, b0, b1 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f'<tr class="h"><td colspan="3">lines {a0 + 1}–{a1} → {b0 + 1}–{b1}</td></tr>'
        for tag, i0, i1, j0, j1 in group:
            if tag == "equal":
                for k in range(i1 - i0):
                    yield row("", i0 + k + 1, j0 + k + 1, " ", old[i0 + k])
                continue
            for i in range(i0, i1):
                yield row("d", i + 1, "", "-", old[i])
            for j in range(j0, j1):
                yield row("a", "", j + 1, "+", new[j])


def html_page(a, b, diffs, head=""):
    """The page; `head` is HTML to add to its head."""
    e = html.escape
    title = f"{a.name} → {b.name}"
    out = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
           '<meta name="viewport" content="width=device-width, initial-scale=1">',
           f"<title>{e(title)}</title><style>{_STYLE}</style>{head}</head><body>", f"<h1>{e(title)}</h1>"]
    if b.title:
        out.append(f"<p>{e(b.title)}</p>")
    out.append('<table class="summary"><tr><th>file</th><th></th><th>lines</th><th>kernels added</th></tr>')
    for i, diff in enumerate(diffs):
        added, removed = diff.counts()
        lines = "binary" if diff.binary else f'<span class="plus">+{added}</span> <span class="minus">−{removed}</span>'
        out.append(f'<tr><td><a href="#f{i}">{e(diff.name)}</a></td><td>{diff.status}</td><td>{lines}</td>'
                   f'<td>{e(", ".join(diff.new_kernels()))}</td></tr>')
    out.append("</table>")
    for i, diff in enumerate(diffs):
        out.append(f'<details open id="f{i}"><summary>{e(diff.name)} <span class="faint">{diff.status}</span></summary><div class="code">')
        if diff.binary:
            out.append("<p>a binary file</p>")
        else:
            out.append("<table>" + "\n".join(_rows(diff)) + "</table>")
        out.append("</div></details>")
    if not diffs:
        out.append("<p>No file differs.</p>")
    out.append("</body></html>")
    return "\n".join(out) + "\n"
