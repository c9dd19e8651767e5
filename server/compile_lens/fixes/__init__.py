"""Fixes: rewrites of the source for a finding, each verified by a run. Editor, terminal and assistants share them."""
