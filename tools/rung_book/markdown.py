"""A page of the repository, written for GitHub, as MkDocs wants it: links that lead to pages of the site, lists as Python-Markdown reads them."""

import re

_FENCE = re.compile(r"^ *(`{3,}|~{3,})")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"(\]\()([^()\s]+)(\))")
_MENTION = re.compile(r"(\[[^\]]*\]\([^)]*\)|\[[^\]]*$)|\b[Cc]hapter (\d\d)\b")
_ITEM = re.compile(r"^( *)([-*]|\d+\.) ")


def lines_of(text):
    """(line, whether it is code) for each line."""
    fence = None
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence is None and found:
            fence = found.group(1)
            yield line, True
        elif fence is not None:
            yield line, True
            if found and found.group(1).startswith(fence) and line.strip() == found.group(1):
                fence = None
        else:
            yield line, False


def _outside_code(text, change):
    """The text with each piece that is not code replaced by change(piece)."""
    out = []
    for line, code in lines_of(text):
        if not code:
            pieces, at = [], 0
            for span in _CODE_SPAN.finditer(line):
                pieces += [change(line[at: span.start()]), span.group(0)]
                at = span.end()
            line = "".join(pieces + [change(line[at:])])
        out.append(line)
    return "\n".join(out)


def map_links(text, target):
    """The text with every link's address replaced by target(address); code is left alone."""
    return _outside_code(text, lambda piece: _LINK.sub(lambda m: m.group(1) + target(m.group(2)) + m.group(3), piece))


def link_chapters(text, address):
    """The text with "chapter 09" linked where address("09") knows one; headings, links and code are left alone."""
    def linked(found):
        to = address(found.group(2)) if found.group(2) else None
        return f"[{found.group(0)}]({to})" if to else found.group(0)

    return _outside_code(text, lambda piece: piece if piece.startswith("#") else _MENTION.sub(linked, piece))


def without_comments(text):
    """The text without HTML comments, which hold cog's blocks and notes for the tools."""
    code = []

    def keep(block):
        code.append(block)
        return f"\0{len(code) - 1}\0"

    kept, run, in_code = [], [], False
    for line, is_code in list(lines_of(text)) + [(None, not text)]:
        if run and (line is None or is_code != in_code):
            kept.append(keep("\n".join(run)) if in_code else "\n".join(run))
            run = []
        if line is not None:
            run.append(line)
            in_code = is_code
    text = re.sub(r"<!--.*?-->\n?", "", "\n".join(kept), flags=re.DOTALL)
    return re.sub(r"\0(\d+)\0", lambda m: code[int(m.group(1))], text)


def sane_lists(text):
    """A blank line before each list, and four columns for what belongs to an item, as Python-Markdown wants both."""
    out = []
    inside = False  # an item of a list
    loose = False  # whose text has gone on behind a blank line
    for line, code in lines_of(text):
        item = None if code else _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if item:
            if out and out[-1].strip() and (loose or not inside):
                out.append("")
            inside, loose = True, False
            if indent:
                line = " " * (4 * ((indent + 2) // 4)) + line.lstrip()
        elif inside and line.strip():
            after_blank = not out[-1].strip()
            if indent == 0 and (code or after_blank or line[0] in "#|"):
                inside = loose = False
            elif indent > 1:
                loose = loose or after_blank or code
                line = " " * (4 - _item_width(out)) + line if code else " " * max(0, 4 - indent) + line
        out.append(line)
    return "\n".join(out)


def _item_width(lines):
    """How far the text of the last item stood in: 2 after "- ", 3 after "1. "."""
    for line in reversed(lines):
        found = _ITEM.match(line)
        if found and not found.group(1):
            return len(found.group(2)) + 1
    return 4
