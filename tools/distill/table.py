"""From token vectors to the file that Rust reads in place, and back."""

import hashlib
import struct

import numpy as np

MAGIC = b"RUTTABLE"
FORM = 1
HEADER = 64
DIMS = 256
SIF = 1e-4


def kept(vocabulary):
    """Ids of the tokens that a text can have. `[unusedN]` stand for nothing."""
    return [id for id, token in enumerate(vocabulary) if not token.startswith("[unused")]


def reduced(vectors):
    """Centred, turned to the axes of most variance, the first 256 of them, and the share of variance they keep."""
    centred = vectors.astype(np.float64)
    centred -= centred.mean(0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    values, axes = values[::-1], axes[:, ::-1]
    scores = centred @ axes
    # The sign of an axis is nobody's choice: the token that is furthest out on it is made positive.
    furthest = scores[np.abs(scores).argmax(0), np.arange(scores.shape[1])]
    scores *= np.sign(furthest)
    return scores[:, :DIMS], values[:DIMS].sum() / values.sum()


def weighted(rows):
    """Frequent tokens say less. The vocabulary is in order of frequency, and Zipf's law has the rest."""
    share = 1 / np.arange(2, len(rows) + 2)
    share /= share.sum()
    return rows * (SIF / (SIF + share))[:, None]


def quantised(rows):
    """Whole numbers of a byte with a scale for each row. All scales are doubled as often as brings the largest
    near 1: only their ratios matter, and the smallest would be too small for half precision."""
    scale = np.abs(rows).max(1) / 127
    whole = np.rint(rows / scale[:, None]).astype(np.int8)
    doubled = int(-np.ceil(np.log2(scale.max())))
    halves = np.ldexp(scale, doubled).astype("<f2")
    assert halves.min() >= 2.0**-14, "a scale below the normal range of half precision"
    return whole, halves


def row_cosines(rows, whole):
    whole = whole.astype(np.float64)
    return (rows * whole).sum(1) / np.linalg.norm(rows, axis=1) / np.linalg.norm(whole, axis=1)


def pairs(rows, count=20_000):
    """Cosines of pairs of tokens that were drawn once and for all."""
    state, ends = 0x9E3779B9, []
    for _ in range(2 * count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        ends.append((state >> 33) % len(rows))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return (unit[ends[::2]] * unit[ends[1::2]]).sum(1)


def packed(vocabulary, whole, halves):
    """The file: header, rows, scales, then the vocabulary: row of each entry, where its text ends, the texts.

    Entries are sorted, those that begin a word first and then those that go on with one, without their `##`.
    Rows stay in the order of frequency, so that a text touches few pages.
    """
    begin = sorted((t.encode(), row) for row, t in enumerate(vocabulary) if not t.startswith("##") or t == "##")
    go_on = sorted((t[2:].encode(), row) for row, t in enumerate(vocabulary) if t.startswith("##") and t != "##")
    entries = begin + go_on
    assert len(entries) == len(whole) < 2**16
    text = b"".join(t for t, _ in entries)
    body = whole.tobytes() + halves.tobytes()
    body += np.array([row for _, row in entries], "<u2").tobytes()
    body += np.cumsum([0] + [len(t) for t, _ in entries]).astype("<u4").tobytes()
    body += text
    header = MAGIC + struct.pack("<6I", FORM, DIMS, len(whole), len(begin), len(go_on), len(text))
    header += hashlib.sha256(body).digest()[:16]
    return header.ljust(HEADER, b"\0") + body


class Table:
    """The file, read back: what Rust sees, and nothing else, so that the fixtures hold the file to account."""

    def __init__(self, data):
        magic, form, dims, rows, begin, go_on, length = struct.unpack_from("<8s6I", data)
        assert (magic, form, dims, rows) == (MAGIC, FORM, DIMS, begin + go_on)
        assert data[32:48] == hashlib.sha256(data[HEADER:]).digest()[:16]
        at = HEADER

        def section(kind, count):
            nonlocal at
            made = np.frombuffer(data, kind, count, at)
            at += made.nbytes
            return made

        self.whole = section("<i1", rows * dims).reshape(rows, dims)
        self.scale = section("<f2", rows).astype(np.float32)
        row, ends = section("<u2", rows), section("<u4", rows + 1)
        text = data[at : at + length]
        assert at + length == len(data)
        self.row = {}
        for entry in range(rows):
            token = text[ends[entry] : ends[entry + 1]].decode()
            self.row[token if entry < begin else "##" + token] = int(row[entry])
