// Twins of the lesson's kernels, after its numbers: SIDE, WEIGHTS and ROWS.

__device__ float4 load4(const float *place) { return *(const float4 *)place; }

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
