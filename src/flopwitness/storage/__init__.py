"""Nouns to bytes and back; refuses to know what it keeps."""
