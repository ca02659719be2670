"""The picture of the README: a plan for pages such as sites have.

python docs/pictures/make.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from recrawl.cli.app import main

rng = np.random.default_rng(7)
change = rng.gamma(0.3, 3.0, 1500) + 1e-4  # per day: most pages hardly ever change, some all day
weights = rng.choice([1.0, 3.0, 10.0], 1500, p=[0.7, 0.2, 0.1])
with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "pages.parquet"
    parquet.write_table(pa.table({"change_rate": change, "weight": weights}), table)
    picture = Path(__file__).with_name("plan.svg")
    main(["plan", str(table), "--budget", "600/d", "--plot", str(picture)])
