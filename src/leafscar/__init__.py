"""Keeps long-running LLM agents inside their context window."""

__version__ = "0.1.0"
