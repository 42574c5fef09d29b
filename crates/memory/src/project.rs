//! Which project a folder belongs to, read from `.git` files.
