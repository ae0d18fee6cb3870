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

template <int FOURS, int THREADS>
struct Tile {
  static constexpr u32 ELEMENTS = 4 * FOURS, WARPS = THREADS / 32;
  float values[ELEMENTS];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

  __device__ u32 first(u32 tile) { return 32 * ELEMENTS * (tile * WARPS + warp) + 4 * lane; }

  __device__ void fetch(float *staged, const float *src, u32 first, u32 n) {
#pragma unroll
    for (u32 k = 0; k < ELEMENTS; k += 4) {
      u32 at = first + 32 * k, cell = k * THREADS + 4 * threadIdx.x;
      if (at + 4 <= n) {
        u32 to = __cvta_generic_to_shared(staged + cell);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(src + at));
      } else
        for (u32 j = 0; j < 4; ++j) staged[cell + j] = at + j < n ? src[at + j] : 0.0f;
    }
    asm volatile("cp.async.commit_group;");
  }

  __device__ void take(const float *staged) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
#pragma unroll
    for (u32 k = 0; k < ELEMENTS; k += 4) {
      float4 four = *(const float4 *)(staged + k * THREADS + 4 * threadIdx.x);
      values[k] = four.x, values[k + 1] = four.y, values[k + 2] = four.z, values[k + 3] = four.w;
    }
  }

  __device__ float scan() {
    float carry = 0.0f;
#pragma unroll
    for (u32 k = 0; k < ELEMENTS; k += 4) {
      for (u32 j = k + 1; j < k + 4; ++j) values[j] += values[j - 1];
      float total = scan_warp(values[k + 3], lane);
      float before = __shfl_up_sync(ALL, total, 1);
      before = lane > 0 ? carry + before : carry;
      for (u32 j = k; j < k + 4; ++j) values[j] += before;
      carry += __shfl_sync(ALL, total, 31);
    }
    return carry;
  }

  __device__ float scan_block(float *sums, float &sum) {
    sum = scan();
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    float total = scan_warp(lane < WARPS ? sums[lane] : 0.0f, lane);
    float before = __shfl_sync(ALL, total, warp - 1);
    sum = __shfl_sync(ALL, total, 31);
    return warp > 0 ? before : 0.0f;
  }

  __device__ void store(float *out, u32 first, float before, u32 n) {
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
};

__device__ void publish(u64 *words, u32 tile, u32 lane, Status status, float value) {
  u64 word = (u64)status << 32 | __float_as_uint(value);
  if (lane == 0)
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(words + tile), "l"(word) : "memory");
}

__device__ u32 next_tile(u32 *taken) {
  __shared__ u32 tile;
  if (threadIdx.x == 0) tile = atomicAdd(taken, 1);
  __syncthreads();
  return tile;
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
      float part = looking || (int)lane < __ffs(prefixes) ? __uint_as_float(word) : 0.0f;
#pragma unroll
      for (int step = 1; step < 32; step *= 2) part += __shfl_xor_sync(ALL, part, step);
      before += part;
      at -= 32;
    }
  }
  return before;
}

template <int FOURS, int THREADS, int RESIDENT>
__global__ void __launch_bounds__(THREADS, RESIDENT)
    scan_ahead(float *out, const float *src, u64 *words, u32 *taken, u32 tiles, u32 n) {
  __shared__ __align__(16) float staged[4 * FOURS * THREADS];
  __shared__ float sums[THREADS / 32], prefix;
  Tile<FOURS, THREADS> it;
  u32 tile = next_tile(taken);
  it.fetch(staged, src, it.first(tile), n);
  __syncthreads();
  while (tile < tiles) {
    u32 after = next_tile(taken);
    it.take(staged);
    it.fetch(staged, src, it.first(after), n);
    float total, before = it.scan_block(sums, total);
    if (it.warp == 0) {
      publish(words, tile, it.lane, SUM, total);
      float found = look_back(words, tile, it.lane);
      publish(words, tile, it.lane, PREFIX, found + total);
      if (it.lane == 0) prefix = found;
    }
    __syncthreads();
    it.store(out, it.first(tile), prefix + before, n);
    tile = after;
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

extern "C" int ahead(float *out, const float *src, u64 *words, u32 *taken, u32 n, int blocks) {
  constexpr int FOURS = 4, THREADS = 512;
  u32 tiles = (n - 1) / (4 * FOURS * THREADS) + 1;
  scan_ahead<FOURS, THREADS, 3><<<blocks, THREADS>>>(out, src, words, taken, tiles, n);
  return cudaGetLastError();
}
