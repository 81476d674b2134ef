"""The tests, and the towers that they and the demo run on."""
