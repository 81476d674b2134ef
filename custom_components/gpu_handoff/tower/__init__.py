"""Everything that is said to the host of the machines, over one SSH connection."""
