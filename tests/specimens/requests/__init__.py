"""Requests of one warp to memory, to be counted by a GPU and by the emulator."""
