"""Answers the questions of coding assistants: short, structured, and with everything that a program said marked as data."""
