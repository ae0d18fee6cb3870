// CUB's radix sort, for `python -m lessons.ladders`.

#include <cub/device/device_radix_sort.cuh>

// ------------------------------------------------------------------ what ctypes calls

extern "C" int cub_keys(void *memory, size_t *bytes, const unsigned *from, unsigned *to, int n) {
  return cub::DeviceRadixSort::SortKeys(memory, *bytes, from, to, n);
}

extern "C" int cub_floats(void *memory, size_t *bytes, const float *from, float *to, int n) {
  return cub::DeviceRadixSort::SortKeys(memory, *bytes, from, to, n);
}

extern "C" int cub_pairs(void *memory, size_t *bytes, const unsigned *from, unsigned *to,
                         const unsigned *values, unsigned *sorted, int n) {
  return cub::DeviceRadixSort::SortPairs(memory, *bytes, from, to, values, sorted, n);
}
