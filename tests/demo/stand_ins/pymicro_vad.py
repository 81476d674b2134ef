"""Stands in for a package that needs a compiler: only audio would use it."""


class MicroVad:
    """Finds speech in audio; the demo has no microphone."""
