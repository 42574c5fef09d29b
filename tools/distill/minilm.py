"""all-MiniLM-L6-v2 forward in numpy: six layers of BERT, mean pooling. No framework is needed for single tokens."""

import numpy as np

LAYERS, HEADS, WIDTH = 6, 12, 384
CLS, SEP = 101, 102

# What the model says of four sentences, first six of 384 numbers, as other people's test suites have it from
# sentence-transformers itself.
PUBLISHED = [
    ("This is an example sentence", [0.06765693, 0.06349593, 0.04871314, 0.07930495, 0.03744806, 0.00265273]),
    ("Each sentence is converted.", [0.07853645, 0.08856265, -0.00209270, -0.00717247, -0.01252624, 0.01881747]),
    ("", [-0.11883835, 0.04829856, -0.00254805, -0.01101118, 0.05195070, 0.01029179]),
    ("Café déjà vu — 東京", [0.05083271, 0.00967685, 0.09635572, -0.00997369, -0.01987603, 0.01692343]),
]


def erf(x):
    """Abramowitz and Stegun 7.1.26, right to 1.5e-7, which numpy does not have."""
    sign, x = np.sign(x), np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * x)
    inner = np.float32(1.061405429) * t - np.float32(1.453152027)
    inner = inner * t + np.float32(1.421413741)
    inner = inner * t - np.float32(0.284496736)
    inner = inner * t + np.float32(0.254829592)
    return sign * (1 - inner * t * np.exp(-x * x))


def normalised(x, weight, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + np.float32(1e-12)) * weight + bias


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


class Model:
    def __init__(self, tensors):
        self._t = tensors

    def _dense(self, x, name):
        # As one matrix: for three axes numpy multiplies three rows at a time, ten times slower.
        weight = self._t[name + ".weight"]
        made = x.reshape(-1, x.shape[-1]) @ weight.T + self._t[name + ".bias"]
        return made.reshape(*x.shape[:-1], len(weight))

    def _norm(self, x, name):
        return normalised(x, self._t[name + ".weight"], self._t[name + ".bias"])

    def forward(self, ids):
        """Mean of the last layer over all positions, `[CLS]` and `[SEP]` included. `ids` is (batch, length)."""
        batch, length = ids.shape
        t = self._t
        x = t["embeddings.word_embeddings.weight"][ids]
        x = x + t["embeddings.position_embeddings.weight"][:length]
        x = self._norm(x + t["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")

        def heads(y):
            return y.reshape(batch, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            q, k, v = (heads(self._dense(x, f"{at}attention.self.{n}")) for n in ("query", "key", "value"))
            weights = softmax(q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS)))
            seen = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
            seen = self._dense(seen, at + "attention.output.dense")
            x = self._norm(x + seen, at + "attention.output.LayerNorm")
            inner = self._dense(x, at + "intermediate.dense")
            inner = inner * np.float32(0.5) * (1 + erf(inner * np.float32(np.sqrt(0.5))))
            x = self._norm(x + self._dense(inner, at + "output.dense"), at + "output.LayerNorm")
        return x.mean(1)

    def tokens(self, ids, batch=64):
        """One vector for each token: `[CLS] token [SEP]`."""
        made = np.empty((len(ids), WIDTH), np.float32)
        for start in range(0, len(ids), batch):
            some = np.asarray(ids[start : start + batch])
            row = np.stack([np.full_like(some, CLS), some, np.full_like(some, SEP)], 1)
            made[start : start + batch] = self.forward(row)
        return made

    def furthest_from_published(self, tokenizer):
        """The largest difference from the published numbers."""
        worst = 0.0
        for text, numbers in PUBLISHED:
            ids = tokenizer.encode(text, add_special_tokens=True).ids
            vector = self.forward(np.array([ids]))[0]
            vector = vector / np.linalg.norm(vector)
            worst = max(worst, float(np.abs(vector[: len(numbers)] - numbers).max()))
        return worst
