"""Readers of recordings. Pure: bytes in, entries out."""

from leafscar.formats.pi import Header, PiReader, Problem, content_problems

__all__ = ["Header", "PiReader", "Problem", "content_problems"]
