#!/usr/bin/env python3
"""Writes what the reference says of a thousand texts, for the tests of the Rust code: `fixtures.py [FOLDER OF THE WHEEL]`.

A line is `[text, times, tokens, hash of the tokens, hash of the vector or null]`; the text is repeated `times` times.
Hashes are FNV-1a of 32 bits: over the rows of the tokens as two bytes each, and over the 256 bytes of the vector.
"""

import json
import random
import sys
import unicodedata

import numpy as np

from distill import HERE, MODEL
from reference import Reference
from source import Source
from table import Table

OUT = HERE.parent.parent / "crates/search/fixtures/embed/texts.jsonl"

WRITTEN = """
the parser forgets the last line
The quick brown fox jumps over 13 lazy dogs.
error[E0502]: cannot borrow `*self` as mutable because it is also borrowed as immutable
thread 'main' panicked at src/store/spool.rs:177:9: called `Option::unwrap()` on a `None` value
TypeError: Cannot read properties of undefined (reading 'map')
Traceback (most recent call last): File "/srv/app/tests/test_api.py", line 42, in test_login
assert left == right failed: left: 3, right: 4
FAILED tests/test_parser.py::TestParser::test_crlf[windows-1252] - AssertionError
npm ERR! code ELIFECYCLE npm ERR! errno 1
go: github.com/acme/Widget@v1.2.3: invalid version: unknown revision
parseHTTPHeader parse_http_header parse-http-header PARSE_HTTP_HEADER XMLHttpRequest iOSApp eBay
utf8 sha256sum base64_decode i18n k8s x86_64-unknown-linux-gnu v2.1.325 3.14159 1e-9 0xDEADBEEF
C:\\Users\\José\\AppData\\Local\\Temp\\tmp8x_1.log
https://example.org/a/b?c=d&e=%20f#frag user@example.org
fn main() { println!("{}", vec![1, 2, 3].iter().map(|x| x * 2).sum::<i32>()); }
SELECT id, COUNT(*) FROM runs WHERE verdict <> 'passed' GROUP BY 1 HAVING COUNT(*) > 3;
#!/usr/bin/env bash set -euo pipefail; for f in *.rs; do echo "$f"; done
Café déjà vu — naïve façade, Ångström, Škoda, Łódź, İstanbul, ΣΊΣΥΦΟΣ, ǅungla, ﬁn, ß, ẞ
e\u0301 n\u0303 a\u0308\u0323 o\u0323\u0308 \u1e69 s\u0323\u0307 q\u0307\u0323
\u0344 \u0374 \u037e \u1fef \u2126 \u212b \u2260 \u226e \u2adc \uf900 \ufa0e \U0002f800
東京タワーは333メートル。 한국어 문장입니다 각 가 힣 ㄱ 中文分词测试，标点。
שלום עולם مرحبا بالعالم مُحَمَّد سلام‌علیکم
नमस्ते दुनिया ক্ষেত্র ொ ௌ ೋ ෞ ไทยไม่มีวรรค မြန်မာ ខ្មែរ ᬆ 𑍋 𝅘𝅥𝅮
😀 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ ☃ ✓ 🇫🇷 1️⃣ 🤷🏽‍♂️ ¯\\_(ツ)_/¯
\u0000a\u0001b\u0007c\u001bd\u007fe\u0085f\u00adg\u200bh\u200di\ufeffj\ufffdk\ue000l
[CLS] [SEP] [MASK] [UNK] [PAD] [unused7] ##ing ## # [cls]
'' "" `` «» “quoted” ‘single’ … – — − × ÷ ¿? ¡! § ¶ © ® ™ ° µ ½ ² ₂ Ⅷ ①
$ ^ ~ | < > = + ` € £ ¥ ₿ \\ / _ - . : ; , @ & % * ( ) [ ] { }
ⅷ Ⓐ ａｂｃ ＡＢＣ １２３ ！？ 𝐀𝐁𝐂 𝒳 𐐀𐐨 ꙀꙁꞋ Ꭰꭰ ႠⴀᲐ
""".strip().split("\n")

WHITE = "a\tb\nc\rd\u000be\u000cf\u00a0g\u1680h\u2003i\u2028j\u2029k\u3000l\u001cm\u001fn"
ALONE = [WHITE, "", " ", "\n\n", "a", "A", "É", "字", "!", "\u0301", "\u200b", "\U0010ffff", "☃☃", "ﷺ", "x" * 99, "x" * 100, "x" * 101]
LONG = [("x", 10_000), ("parse_http_header ", 600), ("é", 100), ("e\u0301", 101), ("字", 10_000), ("a!", 5_000)]
LONG += [("The run failed in src/main.rs:12. ", 300), ("qzxjw", 20), ("qzxjw", 21), ("word ", 9_000), ("😀 ", 3_000)]

BLOCKS = [(0x20, 0x7E), (0xA0, 0x17F), (0x180, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F), (0x590, 0x6FF)]
BLOCKS += [(0x900, 0xDFF), (0xE00, 0x10FF), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x2BFF), (0x3000, 0x33FF)]
BLOCKS += [(0x4E00, 0x4FFF), (0xA640, 0xABFF), (0xAC00, 0xD7A3), (0xF900, 0xFFFD), (0x10000, 0x1FAFF), (0x0, 0x10FFFF)]


def drawn(vocabulary):
    """Texts that nobody would write, the same ones each time."""
    draw = random.Random(1)
    words = [token.removeprefix("##") for token in vocabulary if token.isascii() and token.strip("#").isalnum()]

    def character(low, high):
        while True:
            c = chr(draw.randint(low, high))
            # Python's Unicode may be older than Rust's: what it does not know is left out.
            if unicodedata.category(c) not in ("Cn", "Cs"):
                return c

    for _ in range(22):
        for block in BLOCKS:
            yield "".join(character(*block) if draw.random() > 0.15 else " " for _ in range(draw.randint(1, 30)))
    for _ in range(150):
        some = draw.choices(words, k=draw.randint(1, 8))
        yield draw.choice(["", " ", "_", "-", "/", "::", "."]).join(some)
        yield "".join(word.capitalize() for word in some)
        yield "".join(word.upper() if draw.random() < 0.3 else word + str(draw.randint(0, 99)) for word in some)
    for _ in range(60):
        yield "".join(draw.choices("abcdeéfghABC129_. \u0301字!", k=draw.randint(1, 140)))
    for _ in range(40):
        yield " ".join(draw.choices(" ".join(WRITTEN).split(" "), k=draw.randint(3, 25)))


def fnv(data):
    value = 0x811C9DC5
    for byte in data:
        value = (value ^ byte) * 0x01000193 % 2**32
    return f"{value:08x}"


def main():
    source = Source(sys.argv[1] if len(sys.argv) > 1 else ".")
    table = Table((MODEL / "table.bin").read_bytes())
    reference = Reference(source.tokenizer(), table)
    texts = [(text, 1) for text in WRITTEN + ALONE] + LONG
    texts += [(text, 1) for text in drawn(source.vocabulary())]
    OUT.parent.mkdir(parents=True, exist_ok=True)
    with OUT.open("w") as out:
        for text, times in texts:
            rows = reference.rows(text * times)
            vector = reference.embed(text * times)
            line = [text, times, len(rows), fnv(np.array(rows, "<u2").tobytes())]
            line.append(None if vector is None else fnv(vector.tobytes()))
            out.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(texts), "texts,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
