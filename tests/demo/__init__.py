"""The demo: Home Assistant with its frontend, set up on an embedded or a real tower."""
