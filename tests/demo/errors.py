"""What can go wrong with the demo."""


class DemoError(Exception):
    """What is wrong, as a sentence for whoever typed the command."""
