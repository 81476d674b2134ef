"""The dashboard, pressed in a real browser."""
