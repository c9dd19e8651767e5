"""Programs of our own in styles that are common: vision, language, training, numerical work."""
