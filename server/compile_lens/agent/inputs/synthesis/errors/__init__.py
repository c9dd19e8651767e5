"""What the error of a call tells: the lines that failed, the arguments involved, and what is required of these."""
