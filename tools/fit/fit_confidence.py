#!/usr/bin/env python3
"""Fits the confidence of lessons with phrases, and checks the floor.

usage: fit_confidence.py TRAIN[,TRAIN…] [HELD-OUT[,HELD-OUT…]]

Each argument is a list of files that `cargo xtask eval injection … --measures FILE` has written. Prints the coefficients of a logistic regression
on the training files for `DocumentFit::confidence`, the intercept that puts the floor at a likelihood of one half, and the rates of every file.
Needs numpy and scikit-learn.
"""
import json
import math
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

# The floor is the lowest one at which at most these shares of the unrelated prompts, and of the near misses, are shown something.
MAX_FALSE, MAX_FALSE_NEAR = 0.03, 0.06
# The logit by the text alone, and how much stricter it is for a lesson with phrases: see `crates/search/src/score.rs`.
STRICTER = 1.25


def by_text(hit):
    meaning = max(hit["meaning"], 0.0)
    return -12.92 + 7.63 * meaning + 10.57 * hit["lexical"] * meaning + 2.81 * math.log1p(hit["evidence"])


def features(hit):
    meaning = max(hit["meaning"], 0.0)
    return [meaning, hit["lexical"] * meaning, math.log1p(hit["evidence"]), hit["phrase"] or 0.0, hit["document"]]


def load(path):
    return [json.loads(line) for line in open(path)]


def best_logit(prompt, logit, wanted=False):
    return max((logit(hit) for hit in prompt["hits"][:3] if hit["wanted"] or not wanted), default=-99.0)


def choose_floor(prompts, logit):
    floors = []
    for limit, kind in ((MAX_FALSE, None), (MAX_FALSE_NEAR, "near-miss")):
        of = [p for p in prompts if not p["related"] and kind in (None, p["kind"])]
        logits = sorted((best_logit(p, logit) for p in of), reverse=True)
        floors += [logits[int(limit * len(logits))] + 1e-6] if logits else []
    return max(floors)


def main():
    train = {path: load(path) for path in sys.argv[1].split(",")}
    held_out = {path: load(path) for path in sys.argv[2].split(",")} if len(sys.argv) > 2 else {}
    rows = [(hit, 1 / len(prompts)) for prompts in train.values() for p in prompts for hit in p["hits"]]
    values = np.array([features(hit) for hit, _ in rows])
    weights = np.array([weight for _, weight in rows])
    spread = values.std(0)
    model = LogisticRegression(max_iter=5000).fit(values / spread, [hit["wanted"] for hit, _ in rows], sample_weight=weights / weights.mean())
    factors = model.coef_[0] / spread
    of_phrases = lambda hit: float(factors @ features(hit))
    both = lambda shift: lambda hit: max(of_phrases(hit) + shift, by_text(hit) - STRICTER)
    shift = -choose_floor([p for prompts in train.values() for p in prompts], of_phrases)
    floor = choose_floor([p for prompts in train.values() for p in prompts], both(shift))
    print("meaning, lexical × meaning, ln(1 + evidence), phrase, document:", factors.round(2))
    print(f"intercept {shift - floor:.2f}; the text alone is {STRICTER + floor:.2f} stricter")
    for path, prompts in {**train, **held_out}.items():
        line = [path + (" (held out)" if path in held_out else "")]
        for kind in (None, *sorted({p["kind"] for p in prompts})):
            for related in (False, True):
                of = [p for p in prompts if p["related"] == related and kind in (None, p["kind"])]
                if of:
                    rate = np.mean([best_logit(p, both(shift), related) >= floor for p in of])
                    line.append(f"{kind or 'all'} {'hit' if related else 'false'} {100 * rate:.1f} % of {len(of)}")
        print("\n  ".join(line))


main()
