"""What the Rust code has to give for a text, from the reference tokeniser and numpy."""

import unicodedata

import numpy as np

SEPARATORS = "_-./\\:"
MOST_TOKENS = 8192


def kind(c):
    category = unicodedata.category(c)
    # Not `isspace`, which also has four control characters that are no white space to Unicode.
    if c in SEPARATORS or c in "\t\n\v\f\r\x85" or category[0] == "Z":
        return "separator"
    if category[0] == "N":
        return "digit"
    return "upper" if c.isupper() else "lower" if c.islower() else "other"


def parts(text):
    """The parts of the names in a text: `parseHTTPHeader_v2` is parse, HTTP, Header, v, 2."""
    made, current = [], ""
    for at, c in enumerate(text):
        now = kind(c)
        before = kind(text[at - 1]) if at else "separator"
        after = kind(text[at + 1]) if at + 1 < len(text) else "separator"
        breaks = (
            now == "separator"
            or (now == "digit") != (before == "digit") and {now, before} & {"upper", "lower"}
            or before == "lower" and now == "upper"
            or before == "upper" and now == "upper" and after == "lower"
        )
        if breaks and current:
            made.append(current)
            current = ""
        if now != "separator":
            current += c
    return made + [current] if current else made


class Reference:
    def __init__(self, tokenizer, table):
        self._tokenizer, self._table = tokenizer, table

    def rows(self, text):
        """The rows of a text's tokens, as it stands, unknown ones included."""
        tokens = self._tokenizer.encode(text, add_special_tokens=False).tokens
        return [self._table.row[token] for token in tokens]

    def embed(self, text):
        """256 whole numbers, or nothing. Sums in single precision and in order, as Rust has them."""
        unknown = self._table.row["[UNK]"]
        rows = self.rows(" ".join(parts(text)))[:MOST_TOKENS]
        rows = [row for row in rows if row != unknown]
        total = np.zeros(256, np.float32)
        for row in rows:
            total += self._table.whole[row].astype(np.float32) * self._table.scale[row]
        largest = np.abs(total).max()
        if not largest > 0:
            return None
        scaled = total * (np.float32(127) / largest)
        return np.trunc(scaled + np.copysign(np.float32(0.5), scaled)).astype(np.int8)
