"""tools/book build: gathers the pages below the build folder and runs MkDocs on them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from rung_tools.chapter import chapters_of, previous_chapter
from rung_tools.diff import file_diffs
from rung_tools.errors import ToolError
from rung_tools.html_diff import html_page

from . import markdown, source_pages
from .costs import costs_page

HERE = Path(os.path.abspath(__file__)).parent
LARGEST_SOURCE = 400_000  # bytes that a source page shows
_FILE_TABLE = re.compile(r"\[\[\[cog cog\.outl\(file_table\(\)\).*?\[\[\[end\]\]\] -->", re.DOTALL)
_PLAYER = re.compile(r"<!-- player: (\w+) -->")


class Site:
    """The pages of one build, gathered in `docs` (MkDocs' docs_dir). Paths are the repository's own, so links between pages stay as they are."""

    def __init__(self, root, docs):
        self.root, self.docs = Path(root), Path(docs)
        self.chapters = chapters_of(root)
        self.book = tomllib.loads((self.root / "docs" / "book.toml").read_text(encoding="utf-8"))
        self.sources = set()  # files and folders that pages link to
        self.pages = self._pages()
        self.staged = {p for _, pages in self.pages for p in pages}

    def _pages(self):
        """Every Markdown page, as (part's title, [paths]), in the order of the navigation."""
        parts, placed = [], set()
        numbers = {int(c.number): f"chapters/{c.name}/README.md" for c in self.chapters}
        for part in self.book["parts"]:
            pages = [p for p in part.get("pages", []) if p == "docs/costs.md" or (self.root / p).is_file()]
            first, last = part.get("chapters", (0, -1))
            pages += [path for number, path in numbers.items() if first <= number <= last]
            placed.update(pages)
            if pages:
                parts.append((part["title"], pages))
        rest = [f"docs/{p.name}" for p in sorted((self.root / "docs").glob("*.md"))] + list(numbers.values())
        rest = [p for p in rest if p not in placed]
        if rest:
            parts.append(("More", rest))
        return parts

    def write(self, path, text):
        to = self.docs / path
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))

    def target(self, page, address):
        """Where a link of a page leads on the site; addresses elsewhere stay as they are."""
        if re.match(r"[a-z]+:|#", address):
            return address
        path, mark, anchor = address.partition("#")
        full = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if full.startswith("..") or full in self.staged or not (self.root / full).exists():
            return address
        up = os.path.relpath(full, os.path.dirname(page) or ".")
        if f"{full}/README.md" in self.staged:
            return f"{up}/README.md{mark}{anchor}"
        if Path(full).suffix in (".svg", ".png"):
            self.write(full, (self.root / full).read_bytes())
            return address
        self.sources.add(full)
        return f"{up}/folder.html" if (self.root / full).is_dir() else f"{up}.html{mark}{anchor}"

    def chapter_address(self, page, number):
        """Where a mention of a chapter leads from a page; None where there is no such chapter, or on its own page."""
        path = next((f"chapters/{c.name}/README.md" for c in self.chapters if c.number == number), page)
        return None if path == page else os.path.relpath(path, os.path.dirname(page) or ".")

    def page_text(self, path):
        if path == "docs/costs.md":
            return costs_page(self.root, self.chapters)
        text = (self.root / path).read_text(encoding="utf-8")
        chapter = next((c for c in self.chapters if path == f"chapters/{c.name}/README.md"), None)
        before = previous_chapter(self.chapters, chapter) if chapter else None
        if before:
            self.write(f"chapters/{chapter.name}/diff.html",
                       html_page(before, chapter, file_diffs(before, chapter), source_pages.scheme_script("../../") + '<link rel="icon" href="data:,">'))
            fold = (f"\n\n<details class=\"diff\"><summary>All changed lines against {before.name}</summary>"
                    f'<p><a href="diff.html">Open as a page of its own</a></p><iframe src="diff.html" loading="lazy" title="Changed lines"></iframe></details>\n')
            text = _FILE_TABLE.sub(lambda m: m.group(0) + fold, text)
        return text

    def gather(self):
        shutil.rmtree(self.docs, ignore_errors=True)
        for path in (p for _, pages in self.pages for p in pages):
            text = self.page_text(path)
            players = {name: self.player(path, name) for name in _PLAYER.findall(text) if path.startswith("docs/play/")}
            text = _PLAYER.sub(lambda m: f"\n\nPLAYER-{m.group(1)}\n\n", text) if players else text
            text = markdown.sane_lists(markdown.without_comments(text))
            text = markdown.map_links(text, lambda address: self.target(path, address))
            text = markdown.link_chapters(text, lambda number: self.chapter_address(path, number))
            for name, block in players.items():
                text = text.replace(f"PLAYER-{name}", block)
            self.write(path, text)
        self.write_sources()
        for file in sorted((HERE / "theme").iterdir()):
            self.write(f"theme/{file.name}", file.read_bytes())
        self.write("theme/source.css", source_pages.style_sheet())

    def player(self, page, name):
        """An interactive part: its recording stands in the page, so that it also runs from a file."""
        recording = self.root / os.path.dirname(page) / f"{name}.json"
        try:
            data = json.loads(recording.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ToolError(f"{recording}: cannot be read: {error}") from None
        prompts = recording.with_suffix(".jsonl")
        if prompts.is_file():
            data["prompts"] = [json.loads(line)["prompt"] for line in prompts.read_text(encoding="utf-8").splitlines() if line.strip()]
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        up = source_pages.up_to_top(page)
        return (f'<div class="player" id="{name}"></div>\n<script type="application/json" id="{name}-recording">{text}</script>\n'
                f'<script src="{up}theme/player.js"></script>\n<script src="{up}theme/{name}.js"></script>')

    def write_sources(self):
        done = set()
        while waiting := sorted(self.sources - done):
            for path in waiting:
                done.add(path)
                full = self.root / path
                if full.is_dir():
                    page = f"{path}/folder.html"
                    names = []
                    for entry in sorted(full.iterdir()):
                        if entry.name.startswith((".", "__")):
                            continue
                        if entry.is_dir():
                            has_page = f"{path}/{entry.name}/README.md" in self.staged
                            names.append((f"{entry.name}/", f"{entry.name}/index.html" if has_page else None))
                            continue
                        self.sources.add(f"{path}/{entry.name}")
                        names.append((entry.name, f"{entry.name}.html"))
                    self.write(page, source_pages.folder_page(path, names, page))
                    continue
                page = f"{path}.html"
                data = full.read_bytes()
                if b"\0" in data or len(data) > LARGEST_SOURCE:
                    data = f"{len(data):,} bytes, not shown here".encode()
                chapter = path.split("/")[1] if path.startswith("chapters/") and path.count("/") > 1 else None
                readme = f"{source_pages.up_to_top(page)}chapters/{chapter}/index.html" if chapter else None
                self.write(page, source_pages.source_page(path, data, page, readme))

    def navigation(self):
        titles = {f"chapters/{c.name}/README.md": f"{c.number} · {c.title.split(':')[0]}" for c in self.chapters}
        return [{title: [{titles[p]: p} if p in titles else p for p in pages]} for title, pages in self.pages]


def _configuration(site, out):
    return {
        "site_name": site.book["title"], "docs_dir": str(site.docs), "site_dir": str(out), "use_directory_urls": False,
        "theme": {"name": "material", "font": False, "features": ["navigation.footer", "navigation.tabs", "navigation.tabs.sticky", "navigation.top", "search.highlight",
                                                                  "content.code.copy", "toc.follow"],
                  "palette": [{"media": "(prefers-color-scheme)", "toggle": {"icon": "material/brightness-auto", "name": "Switch to light"}},
                              {"media": "(prefers-color-scheme: light)", "scheme": "default", "toggle": {"icon": "material/brightness-7", "name": "Switch to dark"}},
                              {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "toggle": {"icon": "material/brightness-4", "name": "Follow the system"}}]},
        "extra_css": ["theme/book.css"],
        "plugins": ["search", "offline"],
        "extra": {"polyfills": ["theme/iframe-worker.js"]},  # in place of the one that the offline plugin asks the network for
        "markdown_extensions": ["tables", "attr_list", "md_in_html", {"toc": {"permalink": True, "permalink_title": "Link to this section"}}, "pymdownx.superfences",
                                {"pymdownx.highlight": {"pygments_lang_class": True}}],
        "validation": {"nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
                       "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}},
        "nav": site.navigation(),
    }


def build(root, folder, packages):
    """Builds the site into folder/site and returns it. Throws ToolError with MkDocs' own lines on any warning."""
    folder = Path(folder)
    sys.path.insert(0, str(packages))
    site = Site(root, folder / "docs")
    site.gather()
    out = folder / "site"
    configuration = folder / "mkdocs.yml"
    configuration.write_text(json.dumps(_configuration(site, out), indent=1), encoding="utf-8")  # JSON is YAML
    environment = dict(os.environ, PYTHONPATH=str(packages), NO_MKDOCS_2_WARNING="1")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(configuration)], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or "WARNING" in done.stdout:
        raise ToolError("MkDocs warns or fails:\n" + done.stdout.strip())
    return out
