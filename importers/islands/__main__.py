"""`python -m importers.islands FOLDER`: write the maps of the six islands again."""

from __future__ import annotations

import sys
from pathlib import Path

from importers.islands import write_islands

if len(sys.argv) != 2:
    sys.exit("Usage: python -m importers.islands FOLDER")
for file in write_islands(Path(sys.argv[1])):
    print(file)
