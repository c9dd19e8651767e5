"""The sandbox of a run: restrictions by the operating system and by Python."""
