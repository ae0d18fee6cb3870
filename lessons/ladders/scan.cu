// Rungs of the lesson on scans in CUDA C++, and CUB's scan, for `python -m lessons.ladders`.

#include <cub/device/device_scan.cuh>

using u32 = unsigned;
using u64 = unsigned long long;

constexpr u32 SIZE = 1024, ALL = 0xffffffff;

// ------------------------------------------------------------------ the first rung

__global__ void __launch_bounds__(SIZE) scan_doubling(float *out, const float *src, u32 n) {
  __shared__ float tile[SIZE];
  u32 i = threadIdx.x, at = blockIdx.x * SIZE + i;
  float total = at < n ? src[at] : 0.0f;
  for (u32 step = 1; step < SIZE; step *= 2) {
    tile[i] = total;
    __syncthreads();
    if (i >= step) total += tile[i - step];
    __syncthreads();
  }
  if (at < n) out[at] = total;
}

// ------------------------------------------------------------------ a middle one

__device__ float scan_warp(float total, u32 lane) {
#pragma unroll
  for (u32 step = 1; step < 32; step *= 2) {
    float before = __shfl_up_sync(ALL, total, step);
    if (lane >= step) total += before;
  }
  return total;
}

__global__ void __launch_bounds__(SIZE) scan_shuffling(float *out, const float *src, u32 n) {
  __shared__ float sums[32];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, at = blockIdx.x * SIZE + threadIdx.x;
  float total = scan_warp(at < n ? src[at] : 0.0f, lane);
  if (lane == 31) sums[warp] = total;
  __syncthreads();
  if (warp == 0) sums[lane] = scan_warp(sums[lane], lane);
  __syncthreads();
  if (warp > 0) total += sums[warp - 1];
  if (at < n) out[at] = total;
}

// ------------------------------------------------------------------ the last one

enum Status { WAIT, SUM, PREFIX };

__device__ u32 next_tile(u32 *taken) {
  __shared__ u32 tile;
  if (threadIdx.x == 0) tile = atomicAdd(taken, 1);
  __syncthreads();
  return tile;
}

__device__ void publish(u64 *words, u32 tile, u32 lane, Status status, float value) {
  u64 word = (u64)status << 32 | __float_as_uint(value);
  if (lane == 0)
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(words + tile), "l"(word) : "memory");
}

__device__ float look_back(u64 *words, u32 tile, u32 lane) {
  float before = 0.0f;
  int at = (int)tile - 1 - (int)lane;
  bool looking = true;
  while (looking) {
    u64 word = (u64)PREFIX << 32;
    if (at >= 0)
      asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(words + at) : "memory");
    u32 status = word >> 32;
    if (__all_sync(ALL, status != WAIT)) {
      u32 prefixes = __ballot_sync(ALL, status == PREFIX);
      looking = prefixes == 0;
      bool needed = looking || (int)lane < __ffs(prefixes);
      float part = needed ? __uint_as_float((u32)word) : 0.0f;
#pragma unroll
      for (int k = 1; k < 32; k *= 2) part += __shfl_xor_sync(ALL, part, k);
      before += part;
      at -= 32;
    }
  }
  return before;
}

template <int FOURS, int THREADS, int RESIDENT>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    scan_once(float *out, const float *src, u64 *words, u32 *taken, u32 n) {
  constexpr u32 ELEMENTS = 4 * FOURS, WARPS = THREADS / 32;
  __shared__ float sums[WARPS], prefix;
  float values[ELEMENTS];
  u32 tile = next_tile(taken), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  u32 first = 32 * ELEMENTS * (tile * WARPS + warp) + 4 * lane;
  // load
#pragma unroll
  for (u32 k = 0; k < ELEMENTS; k += 4) {
    u32 at = first + 32 * k;
    float *v = values + k;
    if (at + 4 <= n) {
      float4 four = *(const float4 *)(src + at);
      v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
    } else
      for (u32 j = 0; j < 4; ++j) v[j] = at + j < n ? src[at + j] : 0.0f;
  }
  // add up
  float total = 0.0f;
#pragma unroll
  for (u32 k = 0; k < ELEMENTS; k += 4) {
    for (u32 j = k + 1; j < k + 4; ++j) values[j] += values[j - 1];
    total += values[k + 3];
  }
  total = scan_warp(total, lane);
  if (lane == 31) sums[warp] = total;
  __syncthreads();
  total = scan_warp(lane < WARPS ? sums[lane] : 0.0f, lane);
  float before = __shfl_sync(ALL, total, warp - 1), end = __shfl_sync(ALL, total, 31);
  if (warp == 0) {
    before = 0.0f;
    publish(words, tile, lane, SUM, end);
  }
  // join
  float carry = 0.0f;
#pragma unroll
  for (u32 k = 0; k < ELEMENTS; k += 4) {
    float sum = scan_warp(values[k + 3], lane);
    float left = __shfl_up_sync(ALL, sum, 1);
    left = lane > 0 ? carry + left : carry;
    for (u32 j = k; j < k + 4; ++j) values[j] += left;
    carry += __shfl_sync(ALL, sum, 31);
  }
  if (warp == 0) {
    float found = look_back(words, tile, lane);
    publish(words, tile, lane, PREFIX, found + end);
    if (lane == 0) prefix = found;
  }
  __syncthreads();
  before += prefix;
  // store
#pragma unroll
  for (u32 k = 0; k < ELEMENTS; k += 4) {
    u32 at = first + 32 * k;
    float *v = values + k;
    if (at + 4 <= n)
      *(float4 *)(out + at) =
          make_float4(before + v[0], before + v[1], before + v[2], before + v[3]);
    else
      for (u32 j = 0; j < 4; ++j)
        if (at + j < n) out[at + j] = before + v[j];
  }
}

// ------------------------------------------------------------------ what ctypes calls

extern "C" int cub_scan(void *memory, size_t *bytes, const float *from, float *to, int n) {
  return cub::DeviceScan::InclusiveSum(memory, *bytes, from, to, n);
}

extern "C" int doubling(float *out, const float *src, u32 n) {
  scan_doubling<<<(n + SIZE - 1) / SIZE, SIZE>>>(out, src, n);
  return cudaGetLastError();
}

extern "C" int shuffling(float *out, const float *src, u32 n) {
  scan_shuffling<<<(n + SIZE - 1) / SIZE, SIZE>>>(out, src, n);
  return cudaGetLastError();
}

extern "C" int once(float *out, const float *src, u64 *words, u32 *taken, u32 n) {
  constexpr int FOURS = 12, THREADS = 512, RESIDENT = 2;
  u32 tiles = (n - 1) / (4 * FOURS * THREADS) + 1;
  scan_once<FOURS, THREADS, RESIDENT><<<tiles, THREADS>>>(out, src, words, taken, n);
  return cudaGetLastError();
}
