// The twins in CUDA C++ of the lessons' kernels, for `python -m lessons.baselines`.

template <typename Index>
__device__ void naive(float *c, const float *a, const float *b, Index m, Index k, Index n) {
  Index col = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  Index row = Index(blockIdx.y) * blockDim.y + threadIdx.y;
  if (row < m && col < n) {
    float total = 0;
    for (Index i = 0; i < k; ++i) total += a[row * k + i] * b[i * n + col];
    c[row * n + col] = total;
  }
}

template <typename Index>
__device__ void tiled(float *c, const float *a, const float *b, Index m, Index k, Index n) {
  __shared__ float tile_a[32][32], tile_b[32][32];
  Index x = threadIdx.x, y = threadIdx.y;
  Index col = Index(blockIdx.x) * 32 + x, row = Index(blockIdx.y) * 32 + y;
  float total = 0;
  for (Index at = 0; at < k; at += 32) {
    tile_a[y][x] = row < m && at + x < k ? a[row * k + at + x] : 0;
    tile_b[y][x] = at + y < k && col < n ? b[(at + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 32; ++i) total += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = total;
}

#define KERNELS(bits, Index)                                                              \
  extern "C" __global__ void naive_##bits(float *c, const float *a, const float *b,      \
                                          Index m, Index k, Index n) {                   \
    naive<Index>(c, a, b, m, k, n);                                                       \
  }                                                                                       \
  extern "C" __global__ void tiled_##bits(float *c, const float *a, const float *b,      \
                                          Index m, Index k, Index n) {                   \
    tiled<Index>(c, a, b, m, k, n);                                                       \
  }

KERNELS(32, unsigned)
KERNELS(64, long long)
