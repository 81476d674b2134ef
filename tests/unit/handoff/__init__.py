"""The heart, alone."""
