"""The integration in Home Assistant, on the simulator."""
