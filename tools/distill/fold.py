"""What each character becomes before words are looked up, asked of the reference tokeniser character by character.

Cleaning, spacing of Chinese characters, decomposition, accents and lower case are one step for a single character and,
as `read` makes sure for all of Unicode, do not depend on its neighbours. (The order of several marks does, where a
mark survives that is too new for the tokeniser to be taken away: nothing that the vocabulary knows.) So one sorted list
of ranges replaces the Unicode tables of two libraries, and is what the vocabulary was made with to the letter.
"""

import struct

from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

DROP, SPACE, ALONE, LETTER, SEVERAL = range(5)
HANGUL = range(0xAC00, 0xD7A4)


def hangul(c):
    """The parts of a Korean syllable, which are arithmetic and need no list."""
    at = c - HANGUL.start
    last = [0x11A7 + at % 28] if at % 28 else []
    return [0x1100 + at // 588, 0x1161 + at % 588 // 28] + last


def read():
    """What each character becomes, as a kind and characters."""
    normalizer = BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    splitter = BertPreTokenizer()

    def pieces(text):
        return [piece for piece, _ in splitter.pre_tokenize_str(text)]

    for c in range(0x110000):
        if 0xD800 <= c < 0xE000:
            continue
        made = normalizer.normalize_str(chr(c))
        assert normalizer.normalize_str(f"a{chr(c)}a") == f"a{made}a", hex(c)
        bare, around = made.strip(" "), pieces(f"a{made}a")
        codes = [ord(x) for x in bare]
        if c in HANGUL:
            assert codes == hangul(c), hex(c)
        elif around == ["aa"]:
            yield c, DROP, []
        elif around == ["a", "a"]:
            yield c, SPACE, []
        elif around == ["a", bare, "a"]:
            assert len(codes) == 1, hex(c)
            yield c, ALONE, codes
        else:
            assert around == [f"a{bare}a"], hex(c)
            if codes != [c]:
                yield c, LETTER if len(codes) == 1 else SEVERAL, codes


def packed():
    """Number of ranges, then the ranges (first, last, kind and what the first becomes), then the longer answers.

    Within a range the distance to what a character becomes is the same. A longer answer is its length and its characters,
    and is found by its place among all numbers after the ranges.
    """
    ranges, longer = [], []
    for c, kind, codes in read():
        if kind == SEVERAL:
            to = len(longer)
            longer += [len(codes)] + codes
        else:
            to = codes[0] if codes else 0
        if ranges and kind != SEVERAL:
            first, last, before, start = ranges[-1]
            if (last, before) == (c - 1, kind) and (not codes or start - first == to - c):
                ranges[-1] = (first, c, kind, start)
                continue
        ranges.append((c, c, kind, to))
    numbers = [len(ranges)]
    for first, last, kind, to in ranges:
        numbers += [first, last, kind << 24 | to]
    return struct.pack(f"<{len(numbers) + len(longer)}I", *numbers, *longer)
