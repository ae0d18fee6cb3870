"""Thirty-Two Lanes."""
from .device import device
from .simt import emulate
