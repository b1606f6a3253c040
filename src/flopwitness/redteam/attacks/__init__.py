"""Attacks by what they change."""
