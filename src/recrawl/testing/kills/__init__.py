"""Crawls that are killed as they are about to change a file of their state: at each such moment.

A small library in C, compiled where it is used, stands between process and disk and counts.
What is killed is the real engine over a scripted web, with the real frontier and index.
"""

from recrawl.testing.kills.aim import Aim, Aiming, KillReport, compiled_shim

__all__ = ["Aim", "Aiming", "KillReport", "compiled_shim"]
