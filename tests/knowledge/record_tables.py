"""Records the tables that come with Compile Lens (``make tables``), with the torch they are to be of.

Not a test. They are those that any installed torch gives, without the folder that it is in.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SERVER = Path(__file__).parents[2] / "server" / "compile_lens"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        extracted = Path(folder) / "torch.zip"
        subprocess.run([sys.executable, str(SERVER / "agent" / "boot.py"), "tables", str(extracted)], check=True)
        with (
            zipfile.ZipFile(extracted) as source,
            zipfile.ZipFile(SERVER / "knowledge" / "data" / "torch.zip", "w") as target,
        ):
            for member in source.infolist():
                content = source.read(member)
                if member.filename == "manifest.json":
                    manifest = json.loads(content)
                    del manifest["seconds"]  # the same torch gives the same file
                    content = json.dumps({**manifest, "root": ""}).encode()
                member.compress_type = zipfile.ZIP_DEFLATED
                target.writestr(member, content)


if __name__ == "__main__":
    main()
