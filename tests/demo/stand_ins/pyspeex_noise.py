"""Stands in for a package that needs a compiler: only audio would use it."""


class AudioProcessor:
    """Cleans audio; the demo has no microphone."""
