"""`python -m streamgauge.cli`, where the console script is not on the path."""

import sys

from streamgauge.cli import main

sys.exit(main())
