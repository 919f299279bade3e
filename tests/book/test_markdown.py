"""What tools/book makes of pages written for GitHub. Run: python3 -m unittest discover tests/book"""

import sys
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tools"))
sys.dont_write_bytecode = True

from rung_book.markdown import link_chapters, map_links, sane_lists, without_comments  # noqa: E402


class MarkdownTest(unittest.TestCase):
    def test_links_in_text_are_mapped_and_code_is_left_alone(self):
        text = "[a](x.h) and `[](y)` and [`b`](z#L1)\n```cpp\nauto f = [a](int) {};\n```\n[c](w)"
        self.assertEqual(map_links(text, lambda address: address.upper()),
                         "[a](X.H) and `[](y)` and [`b`](Z#L1)\n```cpp\nauto f = [a](int) {};\n```\n[c](W)")

    def test_mentions_of_chapters_become_links(self):
        text = "# Chapter 09\nAs in chapter 09 and `chapter 09`, see [chapter 09](a), chapter 44.\n```\nchapter 09\n```"
        self.assertEqual(link_chapters(text, {"09": "x"}.get),
                         "# Chapter 09\nAs in [chapter 09](x) and `chapter 09`, see [chapter 09](a), chapter 44.\n```\nchapter 09\n```")

    def test_a_longer_fence_holds_a_shorter_one(self):
        text = "````\n```\n[a](x)\n```\n````\n[b](y)"
        self.assertEqual(map_links(text, str.upper), "````\n```\n[a](x)\n```\n````\n[b](Y)")

    def test_comments_go_outside_of_code_only(self):
        text = "a\n<!-- [[[cog\ncog.outl()\n]]] -->\nb\n```html\n<!-- kept -->\n```\nc <!-- d --> e"
        self.assertEqual(without_comments(text), "a\nb\n```html\n<!-- kept -->\n```\nc  e")

    def test_a_list_gets_a_blank_line_before_it(self):
        self.assertEqual(sane_lists("a\n- b\n- c\n  d\n\ne"), "a\n\n- b\n- c\n    d\n\ne")

    def test_code_and_text_of_an_item_stand_four_columns_in(self):
        text = "1. a:\n\n   ```\n   b\n     c\n   ```\n\n   d\n2. e"
        self.assertEqual(sane_lists(text), "1. a:\n\n    ```\n    b\n      c\n    ```\n\n    d\n\n2. e")


if __name__ == "__main__":
    unittest.main()
