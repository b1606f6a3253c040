"""Composes the rooms; alone constructs readers, samplers and stores."""
