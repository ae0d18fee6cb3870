"""One more exercise of lesson 21: channels in, pixels out."""

from helpers.exercises.arguments import numbers
from helpers.exercises.exercise import Out, Write


class ChannelsLast(Write):
    """An image has $channels channels, one after the other, each a matrix of rows.
    Store it pixel by pixel instead: the $channels numbers of a pixel side by side.

    A block has a thread for each of 128 pixels, which follow one another row by row.
    """

    stars, points = 2, 4
    choices = {"channels": (3, 5), "type": ("float32", "int32")}
    even, ragged = ((8, 32), (4, 96)), ((1, 1), (3, 43), (17, 20))

    @property
    def budget(self):
        each = 2 * self.channels * 8 * 32 // 32  # of a warp, to load and to store
        return {"conflicts": 0, "sectors": "ideal", "requests": each}

    def inputs(self, rng, height, width):
        src = numbers(rng, self.type, -50_000, 50_000, (self.channels, height, width))
        out = Out((height, width, self.channels), self.type)
        return {"dst": out, "src": src}

    def launch(self, height, width):
        return -(-height * width // 128), 128

    def spec(self, src):
        return src.transpose(1, 2, 0)

    setup = "CHANNELS = $channels\nPIXELS = 128\nSIZE = CHANNELS * PIXELS"
    answer = '''
        @cuda.jit
        def channels_last(dst, src):
            """Load a block's pixels by channels, wait, store them side by side."""
            tile = cuda.shared.array(SIZE, $type)
            height, width = src.shape[1:]
            thread, first = cuda.threadIdx.x, PIXELS * cuda.blockIdx.x
            count = min(PIXELS, height * width - first)
            if thread < count:
                pixel = first + thread
                for c in range(CHANNELS):
                    tile[CHANNELS * thread + c] = src[c, pixel // width, pixel % width]
            cuda.syncthreads()
            for cell in range(thread, CHANNELS * count, PIXELS):
                pixel = first + cell // CHANNELS
                dst[pixel // width, pixel % width, cell % CHANNELS] = tile[cell]
    '''
    wrong = {
        "no guard": ("bounds", "min(PIXELS, height * width - first)", "PIXELS"),
        "no barrier": ("race", "cuda.syncthreads()", ""),
        "leaves before the barrier": ("barrier",
            "if thread < count:", "if thread >= count:\n        return\n    if True:"),
        "channels one after the other": ("over_budget:conflicts",
            "tile[CHANNELS * thread + c]", "tile[PIXELS * c + thread]", "= tile[cell]",
            "= tile[cell % CHANNELS * PIXELS + cell // CHANNELS]"),
        "each thread its pixel": ("over_budget:sectors",
            "range(thread, CHANNELS * count, PIXELS)",
            "range(CHANNELS * thread, min(CHANNELS * (thread + 1), CHANNELS * count))"),
        "channels mixed up": ("wrong", "= src[c,", "= src[CHANNELS - 1 - c,"),
        "stores twice": ("over_budget:requests",
            "] = tile[cell]", "] = 0\n        "
            "dst[pixel // width, pixel % width, cell % CHANNELS] = tile[cell]"),
        "height for width": ("bounds", "height, width =", "width, height ="),
        "one thread stores all": ("over_budget:requests",
            "range(thread, CHANNELS * count, PIXELS)",
            "range(0 if thread == 0 else SIZE, CHANNELS * count)"),
        "without a tile": ("over_budget:sectors",
            "= tile[cell]", "= src[cell % CHANNELS, pixel // width, pixel % width]"),
    }
