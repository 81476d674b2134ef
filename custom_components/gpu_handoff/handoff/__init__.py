"""The heart: who holds which card, and what to do next. Pure Python, no I/O library."""
