// Twins of the lesson's kernels, after its numbers: SHARE, LAYERS, and the cube's HEIGHT
// and WIDTH.

__device__ float spread(float here, float west, float east, float north,
                        float south, float below, float above)
{
    float around = west + east + north + south + below + above;
    return here + SHARE * (around - 6.0f * here);
}

extern "C" __global__ void step_plain(float *out, const float *src,
                                      int depth, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (0 < z && z < depth - 1 && 0 < y && y < height - 1 && 0 < x && x < width - 1) {
        int row = width, layer = width * height, i = z * layer + y * row + x;
        out[i] = spread(src[i], src[i - 1], src[i + 1], src[i - row], src[i + row],
                        src[i - layer], src[i + layer]);
    }
}

extern "C" __global__ void step_walk(float *out, const float *src,
                                     int depth, int height, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * LAYERS + 1, end = min(z + LAYERS, depth - 1);
    int row = width, layer = width * height, at = z * layer + y * row + x;
    if (x <= 0 || x >= width - 1 || y <= 0 || y >= height - 1 || z >= end)
        return;
    float below = src[at - layer], cell = src[at];
    for (; z < end; z++, at += layer) {
        float above = src[at + layer];
        out[at] = spread(cell, src[at - 1], src[at + 1], src[at - row], src[at + row],
                         below, above);
        below = cell;
        cell = above;
    }
}

extern "C" __global__ void step_layer(float *out, const float *src,
                                      int depth, int height, int width)
{
    __shared__ float tile[10][34];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * LAYERS + 1, end = min(z + LAYERS, depth - 1);
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    int row = width, layer = width * height, at = z * layer + y * row + x;
    int along = (i == 32) - (i == 1), across = (j == 8) - (j == 1);
    bool here = x < width && y < height && z < end;
    bool mine = here && 0 < x && x < width - 1 && 0 < y && y < height - 1;
    float below = 0, cell = 0, above = 0;
    if (here) {
        below = src[at - layer];
        cell = src[at];
    }
    for (; z < end; z++, at += layer) {
        if (here)
            above = src[at + layer];
        tile[j][i] = cell;
        if (mine && along != 0)
            tile[j][i + along] = src[at + along];
        if (mine && across != 0)
            tile[j + across][i] = src[at + across * row];
        __syncthreads();
        if (mine)
            out[at] = spread(cell, tile[j][i - 1], tile[j][i + 1], tile[j - 1][i],
                             tile[j + 1][i], below, above);
        __syncthreads();
        below = cell;
        cell = above;
    }
}

__device__ float4 load4(const float *place) { return *(const float4 *)place; }

extern "C" __global__ void step_known(float *out, const float *src,
                                      int depth, int, int)
{
    int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int z = blockIdx.z * LAYERS + 1, end = min(z + LAYERS, depth - 1);
    constexpr int row = WIDTH, layer = WIDTH * HEIGHT;
    int at = z * layer + y * row + x;
    if (y >= HEIGHT - 1 || x >= WIDTH || z >= end)
        return;
    bool first = x == 0, last = x + 4 == WIDTH;
    float4 below = load4(src + at - layer), here = load4(src + at);
    for (; z < end; z++, at += layer) {
        float4 above = load4(src + at + layer);
        float4 north = load4(src + at - row), south = load4(src + at + row);
        float west = first ? here.x : src[at - 1], east = last ? here.w : src[at + 4];
        float a = spread(here.x, west, here.y, north.x, south.x, below.x, above.x);
        float b = spread(here.y, here.x, here.z, north.y, south.y, below.y, above.y);
        float c = spread(here.z, here.y, here.w, north.z, south.z, below.z, above.z);
        float d = spread(here.w, here.z, east, north.w, south.w, below.w, above.w);
        *(float4 *)(out + at) = make_float4(first ? here.x : a, b, c, last ? here.w : d);
        below = here;
        here = above;
    }
}
