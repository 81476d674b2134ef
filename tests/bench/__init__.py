"""Figures about speed and load: measured in one run beside what they are compared with."""
