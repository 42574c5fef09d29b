//! Secrets out, before a byte is written.
