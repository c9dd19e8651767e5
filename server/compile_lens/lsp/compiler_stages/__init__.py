"""The compiler's stages as documents of the editor, linked to the lines that they were made of."""
