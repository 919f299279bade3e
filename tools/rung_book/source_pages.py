"""Pages that show a file highlighted, with line numbers that links can name, or list a folder."""

import html
import io
from pathlib import Path

_STYLE = """
:root { color-scheme: light dark; --back: light-dark(#fff, #0d1117); --text: light-dark(#1f2328, #e6edf3); --faint: light-dark(#59636e, #9198a1);
  --mark: light-dark(#fff4c2, #3b3413); --link: light-dark(#0757b8, #6cb6ff); }
body { margin: 0; padding: 1rem; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); } h1 { font-size: 1.1rem; overflow-wrap: anywhere; }
pre { margin: 0; overflow-x: auto; font: 13px/1.5 ui-monospace, monospace; }
.line { display: block; min-height: 1.5em; } .line:target, .line.marked { background: var(--mark); }
.line > a { display: inline-block; width: 3.5em; margin-right: 1em; text-align: right; color: var(--faint); text-decoration: none; user-select: none; }
"""

# GitHub's anchors: #L12 or #L12-L20. Chapter pages keep the reader's choice of light or dark in localStorage.
_SCRIPT = """
function mark() {
  document.querySelectorAll(".marked").forEach((line) => line.classList.remove("marked"));
  const found = /^#L(\\d+)(?:-L(\\d+))?$/.exec(location.hash);
  if (!found) return;
  for (let n = Number(found[1]); n <= Number(found[2] || found[1]); ++n) document.getElementById("L" + n)?.classList.add("marked");
  document.getElementById("L" + found[1])?.scrollIntoView({ block: "center" });
}
addEventListener("hashchange", mark);
mark();
"""


def scheme_script(up):
    """A script that follows the site's choice of light or dark; `up` leads from the page to the top of the site."""
    return f"""<script>try {{
  const chosen = JSON.parse(localStorage.getItem(new URL("{up}", location).pathname + ".__palette"));
  if (chosen?.color?.scheme && !chosen.color.media?.endsWith("scheme)")) document.documentElement.style.colorScheme = chosen.color.scheme === "slate" ? "dark" : "light";
}} catch {{ }}</script>"""


def up_to_top(page):
    return "../" * page.count("/") or "./"


def style_sheet():
    """The pages' style: Pygments' colours of two styles, one for light and one for dark."""
    from pygments.styles import get_style_by_name
    from pygments.token import STANDARD_TYPES

    light, dark = get_style_by_name("default"), get_style_by_name("github-dark")
    rules = []
    for token, name in STANDARD_TYPES.items():
        colours = [style.style_for_token(token)["color"] for style in (light, dark)]
        if name and any(colours):
            rules.append(f"pre .{name} {{ color: light-dark({', '.join('#' + c if c else 'var(--text)' for c in colours)}); }}")
    return _STYLE + "\n".join(rules) + "\n"


def _page(path, page, body):
    up = up_to_top(page)
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>{html.escape(path)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{up}theme/source.css">{scheme_script(up)}</head><body>{body}</body></html>\n')


def source_page(path, data, page, readme=None):
    """The page that shows a file. `readme` is the address of the text it belongs to."""
    from pygments import lex
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import TextLexer, get_lexer_for_filename
    from pygments.util import ClassNotFound

    name = Path(path).name
    text = data.decode("utf-8", "replace")
    try:
        lexer = get_lexer_for_filename("a.cpp" if name.endswith((".h", ".cu", ".cuh")) else name, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    coloured = HtmlFormatter(nowrap=True)
    out = io.StringIO()
    coloured.format(lex(text, lexer), out)
    lines = "".join(f'<span class="line" id="L{n}"><a href="#L{n}">{n}</a>{line}</span>'
                    for n, line in enumerate(out.getvalue().rstrip("\n").split("\n"), 1))
    back = f' · <a href="{readme}">the chapter\'s text</a>' if readme else ""
    return _page(path, page, f'<h1>{html.escape(path)}</h1><p><a href="{up_to_top(page)}index.html">Rung</a>{back}</p><pre><code>{lines}</code></pre>'
                 f"<script>{_SCRIPT}</script>")


def folder_page(path, names, page):
    """The page that lists a folder: (name, address) pairs, address None where there is nothing to show."""
    rows = "".join(f'<li>{f"<a href={chr(34)}{a}{chr(34)}>{html.escape(n)}</a>" if a else html.escape(n)}</li>' for n, a in names)
    return _page(path, page, f'<h1>{html.escape(path)}/</h1><p><a href="{up_to_top(page)}index.html">Rung</a></p><ul>{rows}</ul>')
