"""`python -m cheliped` is the `cheliped` command."""

import sys

from ._command import main

sys.exit(main())
