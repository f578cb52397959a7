"""`python -m importers.demo FOLDER`: write the demo maps again."""

from __future__ import annotations

import sys
from pathlib import Path

from importers.demo import write_demo_maps

if len(sys.argv) != 2:
    sys.exit("Usage: python -m importers.demo FOLDER")
for file in write_demo_maps(Path(sys.argv[1])):
    print(file)
