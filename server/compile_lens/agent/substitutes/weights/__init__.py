"""Lets a program go on whose weights are not there: the same architecture with random ones, told by a note for each."""
