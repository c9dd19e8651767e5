"""What model libraries have in common: how they name the sizes of a model."""
