"""The Model Context Protocol: tools, pages and prompts for coding assistants, over standard input and output."""
