"""Checks of the wheel and the sdist before they are published; see CONTRIBUTING.md."""
