"""Sourced facts as pure functions: what chips can do, what training needs; knows no samples."""
