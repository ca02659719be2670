"""The papers' tables and figures, one module per paper, each loaded only when asked for."""
