"""``python -m compile_lens``."""

from compile_lens.cli.main import main

if __name__ == "__main__":
    main()
