// CUB's sum, for `lessons.ladders`: a library that Python loads.

#include <cub/cub.cuh>

// with no room at `room`, it only says how many bytes it needs there
extern "C" int sum(void *room, size_t *bytes, const float *src, float *out, int n) {
  return cub::DeviceReduce::Sum(room, *bytes, src, out, n);
}
