"""All settings: names, types, defaults and documentation."""
