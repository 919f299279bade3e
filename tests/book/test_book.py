"""The built book: links, and in headless Chromium every page, navigation, search and the interactive pages. Run: python3 -m unittest discover tests/book"""

import html.parser
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
import urllib.parse
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_book.packages import installed  # noqa: E402
from rung_tools.errors import ToolError  # noqa: E402

BUILD = Path(os.environ.get("RUNG_BUILD_DIR") or REPOSITORY / "build").resolve()
CHROMIUM = shutil.which("chromium")
WHY_NOT = None if CHROMIUM else "chromium is not installed (RUNG_BOOK=1 ./test.sh installs it): the book is not tested"
if WHY_NOT and os.environ.get("RUNG_BOOK") == "1":
    WHY_NOT = None  # then the tests fail without it

SITE = None


def setUpModule():
    global SITE
    if WHY_NOT:
        print(WHY_NOT)
        return
    try:
        sys.path.insert(0, str(installed(BUILD, "browser", Path(__file__).with_name("requirements.txt"))))
    except ToolError as error:
        raise unittest.SkipTest(str(error)) from None
    done = subprocess.run([sys.executable, str(REPOSITORY / "tools" / "book"), "build"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"tools/book build failed:\n{done.stdout}")
    SITE = BUILD / "book" / "site"


class Links(html.parser.HTMLParser):
    """The ids of a page and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.ids.update(v for k, v in values.items() if k in ("id", "name") and v)
        for key in ("href", "src"):
            if values.get(key):
                self.links.add(values[key])


@unittest.skipIf(WHY_NOT, WHY_NOT)
class StaticTest(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        pages = {p: Links(p.read_text(encoding="utf-8")) for p in SITE.rglob("*.html") if p.name != "404.html"}
        self.assertGreater(len(pages), 100)
        broken = []
        for page, found in pages.items():
            for link in found.links:
                parts = urllib.parse.urlsplit(link)
                if parts.scheme or parts.netloc:
                    continue
                target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
                if target.is_dir():
                    target /= "index.html"
                anchor = urllib.parse.unquote(parts.fragment)
                wanted = anchor.split("-L") if anchor.startswith("L") and anchor[1:2].isdigit() else [anchor]
                wanted = [w if w.startswith("L") else f"L{w}" for w in wanted] if len(wanted) > 1 else wanted
                if not target.exists() or anchor and target in pages and not pages[target].ids.issuperset(wanted):
                    broken.append(f"{page.relative_to(SITE)}: {link}")
        self.assertEqual(broken, [])

    def test_chapters_end_in_the_full_diff(self):
        chapters = sorted((REPOSITORY / "chapters").iterdir())
        for before, after in zip(chapters, chapters[1:]):
            text = (SITE / "chapters" / after.name / "index.html").read_text(encoding="utf-8")
            self.assertIn("All changed lines against " + before.name, text)
            self.assertTrue((SITE / "chapters" / after.name / "diff.html").is_file())

    def test_no_leftovers_of_the_sources_markup(self):
        for page in (SITE / "chapters").glob("*/index.html"):
            text = page.read_text(encoding="utf-8")
            for leftover in ("[[[cog", "PLAYER-", "<!-- recorded"):
                self.assertNotIn(leftover, text, page)


@unittest.skipIf(WHY_NOT, WHY_NOT)
class BrowserTest(unittest.TestCase):
    """Pages are opened as files: nothing is served, and nothing may be asked of a network."""

    @classmethod
    def setUpClass(cls):
        from playwright.sync_api import sync_playwright

        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)

    def open(self, path="index.html", width=1200, **options):
        context = self.browser.new_context(viewport={"width": width, "height": 800}, **options)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(20_000)
        self.complaints = []
        page.on("console", lambda m: self.complaints.append(f"{page.url}: {m.text}") if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.complaints.append(f"{page.url}: {e}"))
        aborted = "net::ERR_ABORTED"  # by going on to the next page
        page.on("requestfailed", lambda r: self.complaints.append(f"{page.url}: {r.url} failed") if r.failure != aborted else None)
        page.on("request", lambda r: self.complaints.append(f"{page.url}: asks for {r.url}") if r.url.startswith("http") else None)
        self.go(page, path)
        return page

    def go(self, page, path):
        page.goto((SITE / path).as_uri())

    def texts(self):
        return sorted(p.relative_to(SITE).as_posix() for p in SITE.rglob("*.html") if 'name="generator"' in p.read_text(encoding="utf-8")[:4000] and p.name != "404.html")

    def test_no_page_complains_and_all_fit_a_phone(self):
        page = self.open(width=360)
        paths = self.texts()
        self.assertGreater(len(paths), 20)
        wide = []
        for path in paths + ["chapters/06-rms-norm/src/ops/rms_norm.cu.html", "chapters/06-rms-norm/diff.html"]:
            self.go(page, path)
            needed = page.evaluate("document.documentElement.scrollWidth")
            if needed > 360 and not path.endswith("diff.html"):
                wide.append(f"{path} needs {needed} pixels")
        self.assertEqual(self.complaints, [])
        self.assertEqual(wide, [])

    def test_navigation_leads_through_all_chapters(self):
        page = self.open("docs/introduction.html", width=1400)
        seen = []
        for chapter in sorted((REPOSITORY / "chapters").iterdir()):
            page.click(".md-footer__link--next")
            seen.append(chapter.name in page.url)
        self.assertTrue(all(seen), page.url)
        page.click(".md-tabs__link >> nth=1")
        self.assertIn("chapters/01-gguf-metadata", page.url)
        self.assertEqual(self.complaints, [])

    def test_search_finds_a_chapter(self):
        page = self.open()
        page.keyboard.press("/")
        page.keyboard.type("bank conflict", delay=20)
        page.wait_for_selector(".md-search-result__link")
        found = page.eval_on_selector_all(".md-search-result__link", "links => links.map(l => l.href)")
        self.assertTrue(any("06-rms-norm" in address for address in found), found)
        self.assertEqual(self.complaints, [])

    def test_an_excerpts_link_marks_its_lines(self):
        page = self.open("chapters/06-rms-norm/index.html")
        link = page.locator("em > a[href*='#L']").first
        first, last = (int(n) for n in link.get_attribute("href").split("#L")[1].split("-L"))
        link.click()
        page.wait_for_selector(".marked")
        self.assertEqual(page.locator(".marked").count(), last - first + 1)
        self.assertEqual(self.complaints, [])

    def test_light_and_dark(self):
        back = "getComputedStyle(document.body).backgroundColor"
        for scheme, dark in (("dark", True), ("light", False)):
            page = self.open(color_scheme=scheme)
            self.assertEqual(page.get_attribute("body", "data-md-color-scheme"), "slate" if dark else "default")
            self.go(page, "chapters/06-rms-norm/src/ops/rms_norm.cu.html")
            self.assertEqual(page.evaluate(back) == "rgb(13, 17, 23)", dark)
            self.go(page, "index.html")
            for _ in range(2 if scheme == "light" else 1):  # from the system's choice to light, to dark
                page.click(".md-header__option label:visible")
            chosen = page.get_attribute("body", "data-md-color-scheme")
            self.assertNotEqual(chosen, "slate" if dark else "default")
            self.go(page, "chapters/06-rms-norm/src/ops/rms_norm.cu.html")
            self.assertEqual(page.evaluate(back) == "rgb(13, 17, 23)", chosen == "slate")

    def test_the_scheduler_plays_to_its_end(self):
        record = json.loads((REPOSITORY / "docs/play/scheduler.json").read_text())
        page = self.open("docs/play/scheduler.html", width=360)
        page.focus("#scheduler")
        for i, step in enumerate(record["steps"]):
            self.assertEqual(page.inner_text("#scheduler .count"), f"{i + 1} / {len(record['steps'])}")
            states = page.eval_on_selector_all("#scheduler .blocks li", "all => all.map(b => b.classList[0])")
            self.assertEqual(states, [b["state"] for b in step["blocks"]])
            holders = page.eval_on_selector_all("#scheduler .blocks li", "all => all.map(b => b.querySelectorAll('.chip').length)")
            self.assertEqual(holders, [len(b["by"]) for b in step["blocks"]])
            kinds = page.eval_on_selector_all("#scheduler .is", "all => all.map(b => b.textContent)")
            self.assertEqual(sum(k in ("prefill", "decode") for k in kinds), len(step["running"]))
            self.assertEqual(sum(k in ("waiting", "preempted") for k in kinds), len(step["waiting"]))
            page.keyboard.press("ArrowRight")
        self.assertIn("All requests are answered", page.inner_text("#scheduler .says"))
        page.keyboard.press("Home")
        self.assertTrue(page.inner_text("#scheduler .count").startswith("1 /"))
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)
        self.assertEqual(self.complaints, [])

    def test_attention_by_tiles_ends_in_the_softmax(self):
        record = json.loads((REPOSITORY / "docs/play/attention.json").read_text())
        page = self.open("docs/play/attention.html", width=360)
        for head in record["heads"][:2]:
            largest = max(head["scores"])
            total = sum(math.exp(s - largest) for s in head["scores"])
            softmax = [math.exp(s - largest) / total for s in head["scores"]]
            output = [sum(p * v[d] for p, v in zip(softmax, head["values"])) for d in range(len(head["values"][0]))]
            page.select_option("select[aria-label=Head]", str(head["head"]))
            for tile in (1, 4, 8):
                page.select_option("select[aria-label='Keys in a tile']", str(tile))
                for _ in range(math.ceil(len(softmax) / tile) + 1):
                    page.click("button[title='One step on']")
                self.assertTrue(page.is_disabled("button[title='One step on']"))
                shown = page.eval_on_selector_all("#attention tbody tr td:nth-child(4)", "all => all.map(c => Number(c.textContent))")
                self.assertEqual(len(shown), len(softmax))
                for a, b in zip(shown, softmax):
                    self.assertAlmostEqual(a, b, delta=6e-4)
                numbers = page.inner_text("#attention .state div:nth-child(3) b").replace("−", "-").split()
                for a, b in zip(map(float, numbers), output, strict=True):
                    self.assertAlmostEqual(a, b, delta=6e-4)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 360)
        self.assertEqual(self.complaints, [])


if __name__ == "__main__":
    unittest.main()
