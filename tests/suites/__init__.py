"""What script/test runs: each suite in a process of its own, one total at the end."""
