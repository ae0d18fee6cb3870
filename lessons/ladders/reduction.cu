// The twins in CUDA C++ of lesson 25's first, middle and last rung, and a read-only pass.

constexpr unsigned THREADS = 512, WARPS = THREADS / 32, LOADS = 4, TILE = 4 * LOADS * THREADS;
typedef unsigned uint;

extern "C" __global__ void sum_interleaved(float *out, const float *src, uint n) {
  __shared__ float numbers[THREADS];
  uint thread = threadIdx.x, i = THREADS * blockIdx.x + thread;
  numbers[thread] = i < n ? src[i] : 0;
  __syncthreads();
  for (uint step = 1; step < THREADS; step *= 2) {
    if (thread % (2 * step) == 0) numbers[thread] += numbers[thread + step];
    __syncthreads();
  }
  if (thread == 0) out[blockIdx.x] = numbers[0];
}

__device__ void add_halves(float *numbers) {
  uint thread = threadIdx.x, step = THREADS / 2;
  for (; step >= 32; step /= 2) {
    if (thread < step) numbers[thread] += numbers[thread + step];
    __syncthreads();
  }
  if (thread < 32)
    for (; step > 0; step /= 2) {
      if (thread < step) numbers[thread] += numbers[thread + step];
      __syncwarp();
    }
}

extern "C" __global__ void sum_pairs(float *out, const float *src, uint n) {
  __shared__ float numbers[THREADS];
  uint thread = threadIdx.x, i = 2 * THREADS * blockIdx.x + thread, j = i + THREADS;
  numbers[thread] = (i < n ? src[i] : 0) + (j < n ? src[j] : 0);
  __syncthreads();
  add_halves(numbers);
  if (thread == 0) out[blockIdx.x] = numbers[0];
}

__device__ float sum_of_warp(float total) {
  for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(0xFFFFFFFF, total, step);
  return total;
}

__device__ float sum_of_block(float total) {
  __shared__ float sums[WARPS];
  uint thread = threadIdx.x;
  total = sum_of_warp(total);
  if (thread % 32 == 0) sums[thread / 32] = total;
  __syncthreads();
  if (thread < 32) total = sum_of_warp(thread < WARPS ? sums[thread] : 0);
  return total;
}

__device__ float sum_of_thread(const float *src, uint n) {
  uint thread = threadIdx.x, step = TILE * gridDim.x, whole = n - n % TILE;
  float total = 0;
  for (uint i = TILE * blockIdx.x + 4 * thread; i < whole; i += step)
    for (uint k = 0; k < LOADS; ++k) {
      float4 four = *reinterpret_cast<const float4 *>(src + i + 4 * THREADS * k);
      total += (four.x + four.y) + (four.z + four.w);
    }
  for (uint i = whole + THREADS * blockIdx.x + thread; i < n; i += THREADS * gridDim.x)
    total += src[i];
  return total;
}

extern "C" __global__ void sum_at_once(float *out, float *parts, uint *finished,
                                       const float *src, uint n) {
  __shared__ bool last;
  uint thread = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;
  float total = sum_of_block(sum_of_thread(src, n));
  if (thread == 0) {
    parts[block] = total;
    __threadfence();
    uint ticket = atomicInc(finished, blocks - 1);
    __threadfence();
    last = ticket == blocks - 1;
  }
  __syncthreads();
  if (last) {
    total = 0;
    for (uint k = 0; k < LOADS; ++k) {    // no more blocks than LOADS * THREADS
      uint i = thread + THREADS * k;
      total += i < blocks ? parts[i] : 0;
    }
    total = sum_of_block(total);
    if (thread == 0) out[0] = total;
  }
}

// reads everything in the shape of the last rung, and joins the bits rather than add
extern "C" __global__ void read_only(uint *out, const float *src, uint n) {
  uint step = TILE * gridDim.x, bits = 0;
  for (uint i = TILE * blockIdx.x + 4 * threadIdx.x; i < n; i += step)
    for (uint k = 0; k < LOADS; ++k) {
      uint4 four = *reinterpret_cast<const uint4 *>(src + i + 4 * THREADS * k);
      bits |= four.x | four.y | four.z | four.w;
    }
  if (bits == 1) out[0] = 0;    // never: but the compiler must load to know
}
