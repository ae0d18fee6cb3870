// Twins of the lesson's kernels, after its numbers: SIDE, WEIGHTS, SHARE, LAYERS, ROWS,
// and the cube's HEIGHT and WIDTH.

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
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    int z = blockIdx.z * LAYERS + 1, end = min(z + LAYERS, depth - 1);
    int row = width, layer = width * height, at = z * layer + y * row + x;
    if (x >= width - 1 || y >= height - 1 || z >= end)
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

extern "C" __global__ void filter_plain(float *out, const float *src,
                                        const float *weights, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float total = 0;
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                total += weights[SIDE * i + j] * src[(row + i) * (cols + 12) + col + j];
        out[row * cols + col] = total;
    }
}

extern "C" __global__ void filter_constant(float *out, const float *src,
                                           int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        float total = 0;
#pragma unroll
        for (int i = 0; i < SIDE; i++)
#pragma unroll
            for (int j = 0; j < SIDE; j++)
                total += WEIGHTS[i][j] * src[(row + i) * (cols + 12) + col + j];
        out[row * cols + col] = total;
    }
}

__device__ void load_sixteen(float *near, const float *place)
{
#pragma unroll
    for (int j = 0; j < 16; j += 4)
        *(float4 *)(near + j) = load4(place + j);
}

__device__ void add_row(float sums[SIDE + 1][4], const float *near)
{
#pragma unroll
    for (int i = 0; i < SIDE; i++) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            sums[i][e] = sums[i + 1][e];
#pragma unroll
        for (int j = 0; j < SIDE; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                sums[i][e] += WEIGHTS[SIDE - 1 - i][j] * near[e + j];
    }
}

extern "C" __global__ void filter_ahead(float *out, const float *src,
                                        int rows, int cols)
{
    int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x), wide = cols + 12;
    int row = ROWS * (blockIdx.y * blockDim.y + threadIdx.y);
    int first = row + SIDE - 1, end = min(row + ROWS, rows) + SIDE - 1;
    if (col >= cols || row >= end)
        return;
    float sums[SIDE + 1][4] = {}, even[16], odd[16];
    load_sixteen(even, src + row * wide + col);
    for (; row < end; row += 2) {
        load_sixteen(odd, src + min(row + 1, end - 1) * wide + col);
        add_row(sums, even);
        if (first <= row)
            *(float4 *)(out + (row - SIDE + 1) * cols + col) = *(float4 *)sums[0];
        load_sixteen(even, src + min(row + 2, end - 1) * wide + col);
        add_row(sums, odd);
        if (first <= row + 1 && row + 1 < end)
            *(float4 *)(out + (row - SIDE + 2) * cols + col) = *(float4 *)sums[0];
    }
}
