"""Trace pieces in, Sessions out; refuses to know what a session computed."""
