#!/usr/bin/env python3
"""Checks the links of the rendered documentation: usage: scripts/links.py [TARGET/doc]

Reads each HTML page below the folder that the workspace's crates have made, and the book in target/book, if `mdbook build docs` has made it. Reports links to files and anchors that are not there, and, in
the sources, addresses of docs.rs that the rendered pages do not have. Links to other sites are not followed. Exits with 1 if there are any.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

ROOT = Path(__file__).resolve().parent.parent
SITE = re.compile(r"https://docs\.rs/(cuweave(?:-[a-z]+)*)/latest/([^\s)\"'`<>\]}]*)")


class Page(HTMLParser):
    """The anchors and links of a page, without those to rustdoc's lists of implementations, which are made for dependent crates."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.anchors, self.links = set(), []
        # Pictures that stand in the page itself: rustdoc copies no files.
        self.hidden = set(re.findall(r'img\[src="([^"]+)"\] \{ display: none \}', text))
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value and value not in self.hidden and ".impl/" not in value:
                self.links.append((self.getpos()[0], value))


def resolve(path):
    """Returns the file that a browser would be given."""
    return path / "index.html" if path.is_dir() else path


def main():
    docs = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/doc").resolve()
    crates = sorted(path.name for path in docs.glob("cuweave*") if path.is_dir())
    pages = {path: Page(path.read_text()) for crate in crates for path in (docs / crate).rglob("*.html")}
    if "cuweave" not in crates or len(pages) < 100:
        sys.exit(f"{docs} has {len(pages)} pages of {crates}: run cargo doc --no-deps --workspace --features blas,half,nccl first")
    broken, checked = set(), 0

    # The pages of the book link to each other by paths, and to the crate's documentation by addresses.
    book = ROOT / "target/book"
    pages |= {path: Page(path.read_text()) for path in book.rglob("*.html") if path.name != "404.html"}

    def check(source, link, target, anchor):
        nonlocal checked
        checked += 1
        target = resolve(target)
        if not target.is_file():
            broken.add(f"{source}: {link}: no such file")
        elif anchor and target in pages and not {anchor, unquote(anchor)} & pages[target].anchors:
            # Lines of sources are made by a script; hidden traits of other crates have no list of items.
            if not re.fullmatch(r"\d+(-\d+)?|(ty)?method\..*|associated(type|constant)\..*", anchor):
                broken.add(f"{source}: {link}: no such anchor")

    for path, page in pages.items():
        for _, link in page.links:
            address = SITE.match(link)
            if address:
                link_path, anchor = urldefrag(address[2])
                check(path.name if book in path.parents else path.relative_to(docs), link, docs / unquote(link_path), anchor)
            elif not re.match(r"[a-z+]+:|//", link):
                target, anchor = urldefrag(link)
                target = path if not target else (path.parent / unquote(target)).resolve()
                check(path.name if book in path.parents else path.relative_to(docs), link, target, anchor)
    sources = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.rs"), *ROOT.glob("graph-*/src/**/*.rs")]
    sources += [*ROOT.glob("tests/ui/**/*.stderr")]
    for source in sources:
        for line, text in enumerate(source.read_text().splitlines(), 1):
            for address in SITE.finditer(text):
                if "{" in address[2]:
                    continue
                target, anchor = urldefrag(address[2].rstrip(".,:;"))
                check(f"{source.relative_to(ROOT)}:{line}", address[0], docs / target, anchor)
    print(f"{checked} links of {len(pages)} pages and {len(sources)} sources")
    for text in sorted(broken):
        print(text)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
