// The twins in CUDA C++ of three rungs of lesson 24, for `python -m lessons.ladders`.

// Each thread adds up eight elements of a column of c.
extern "C" __global__ __launch_bounds__(512) void columns(
    float *c, const float *a, const float *b, unsigned m, unsigned inner, unsigned n) {
  __shared__ float tile_a[64][8], tile_b[8][64];
  float sums[8] = {};
  unsigned t = threadIdx.x, x = t % 64, y = t / 64;
  unsigned top = 64 * blockIdx.y, left = 64 * blockIdx.x;
  for (unsigned at = 0; at < inner; at += 8) {
    tile_a[t / 8][t % 8] = a[(top + t / 8) * inner + at + t % 8];
    tile_b[y][x] = b[(at + y) * n + left + x];
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[i] += tile_a[8 * y + i][k] * tile_b[k][x];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i) c[(top + 8 * y + i) * n + left + x] = sums[i];
}

// Each thread adds up 8 × 8 elements of c, 16 apart.
extern "C" __global__ __launch_bounds__(256, 2) void squares(
    float *c, const float *a, const float *b, unsigned m, unsigned inner, unsigned n) {
  __shared__ float tile_a[128][8], tile_b[8][128];
  float sums[8][8] = {};
  unsigned t = threadIdx.x, x = t % 16, y = t / 16;
  unsigned top = 128 * blockIdx.y, left = 128 * blockIdx.x;
  for (unsigned at = 0; at < inner; at += 8) {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      unsigned row = 32 * q + t / 8, k = t % 8;
      tile_a[row][k] = a[(top + row) * inner + at + k];
      k = 2 * q + t / 128;
      tile_b[k][t % 128] = b[(at + k) * n + left + t % 128];
    }
    __syncthreads();
    for (int k = 0; k < 8; ++k) {
      float mine_a[8], mine_b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) mine_a[i] = tile_a[y + 16 * i][k], mine_b[i] = tile_b[k][x + 16 * i];
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] += mine_a[i] * mine_b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) c[(top + y + 16 * i) * n + left + x + 16 * j] = sums[i][j];
}

// Start this thread's copies of 16 rows of a tile, 16 bytes each.
template <unsigned WIDTH>
__device__ void copy_tile(float *tile, const float *source, unsigned width, unsigned at,
                          unsigned col) {
#pragma unroll
  for (unsigned q = 0; q < 16 * WIDTH; q += 1024) {
    unsigned place = q + 4 * threadIdx.x;
    const float *from = source + (at + place / WIDTH) * width + col + place % WIDTH;
    unsigned to = __cvta_generic_to_shared(tile + place);
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
                 : "memory");
  }
}

// Copy the next tiles while adding up the products of these.
extern "C" __global__ __launch_bounds__(256, 1) void last(
    float *c, const float *a, const float *b, unsigned m, unsigned inner, unsigned n,
    unsigned high, unsigned wide) {
  __shared__ __align__(16) float tiles_a[2][16 * 256], tiles_b[2][16 * 128];
  float sums[8][16] = {};
  unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  unsigned y = 64 * (warp / 2) + 4 * (lane / 4), x = 64 * (warp % 2) + 4 * (lane % 4);
  unsigned top = 256 * blockIdx.y, left = 128 * blockIdx.x;
  unsigned at = 0, stage = 0;
  copy_tile<256>(tiles_a[0], a, high, 0, top);
  copy_tile<128>(tiles_b[0], b, wide, 0, left);
  asm volatile("cp.async.commit_group;" ::: "memory");
  while (at < inner) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    at += 16;
    if (at < inner) {
      copy_tile<256>(tiles_a[1 - stage], a, high, at, top);
      copy_tile<128>(tiles_b[1 - stage], b, wide, at, left);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    const float *near_a = tiles_a[stage] + y, *near_b = tiles_b[stage] + x;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 mine_a[2], mine_b[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) mine_b[j] = *(const float4 *)(near_b + 128 * k + 16 * j);
#pragma unroll
      for (int i = 0; i < 2; ++i) mine_a[i] = *(const float4 *)(near_a + 256 * k + 32 * i);
#pragma unroll
      for (int j = 0; j < 16; ++j)
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          int row = j % 2 ? 7 - i : i;
          sums[row][j] += ((float *)mine_a)[row] * ((float *)mine_b)[j];
        }
    }
    stage = 1 - stage;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      unsigned row = top + y + 32 * (i / 4) + i % 4, col = left + x + 16 * (j / 4) + j % 4;
      if (row < m && col < n) c[row * n + col] = sums[i][j];
    }
}
