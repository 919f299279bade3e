"""The book: a static site made from the READMEs, docs/ and the sources that they link."""
