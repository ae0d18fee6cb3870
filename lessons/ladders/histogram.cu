// CUB's histogram, and the lesson's first, middle and last rungs in CUDA C++.

#include <cub/cub.cuh>

constexpr unsigned BINS = 256;

__global__ void count_globally(unsigned* bins, const unsigned char* values, unsigned size)
{
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step)
        atomicAdd(&bins[values[i]], 1u);
}

__global__ void count_in_blocks(unsigned* bins, const unsigned char* values, unsigned size)
{
    __shared__ unsigned own[BINS];
    if (threadIdx.x < BINS)
        own[threadIdx.x] = 0;
    __syncthreads();
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step)
        atomicAdd(&own[values[i]], 1u);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

template <unsigned COPIES>
__device__ void add_word(unsigned* own, unsigned word, unsigned copy)
{
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 8)
        atomicAdd(&own[COPIES * (word >> shift & 255) + copy], 1u);
}

template <unsigned COPIES>
__device__ void add_sixteen(unsigned* own, uint4 four, unsigned copy)
{
    add_word<COPIES>(own, four.x, copy);
    add_word<COPIES>(own, four.y, copy);
    add_word<COPIES>(own, four.z, copy);
    add_word<COPIES>(own, four.w, copy);
}

template <unsigned COPIES>
__device__ void clear(unsigned* own)
{
    for (unsigned cell = threadIdx.x; cell < BINS * COPIES; cell += blockDim.x)
        own[cell] = 0;
    __syncthreads();
}

template <unsigned COPIES>
__device__ void add_up(unsigned* bins, const unsigned* own)
{
    __syncthreads();
    for (unsigned value = threadIdx.x; value < BINS; value += blockDim.x) {
        unsigned total = 0;
#pragma unroll
        for (unsigned turn = 0; turn < COPIES; ++turn)
            total += own[COPIES * value + (value + turn) % COPIES];
        atomicAdd(&bins[value], total);
    }
}

// the sizes are multiples of 16 bytes
template <unsigned COPIES>
__global__ void count_in_copies(unsigned* bins, const uint4* fours, unsigned size)
{
    __shared__ unsigned own[BINS * COPIES];
    unsigned copy = threadIdx.x % COPIES;
    clear<COPIES>(own);
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step)
        add_sixteen<COPIES>(own, fours[i], copy);
    add_up<COPIES>(bins, own);
}

__global__ void count_two_loads(unsigned* bins, const uint4* fours, unsigned size)
{
    __shared__ unsigned own[BINS * 32];
    unsigned lane = threadIdx.x % 32;
    clear<32>(own);
    unsigned step = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + step < size; i += 2 * step) {
        uint4 one = fours[i], two = fours[i + step];
        add_sixteen<32>(own, one, lane);
        add_sixteen<32>(own, two, lane);
    }
    if (i < size)
        add_sixteen<32>(own, fours[i], lane);
    add_up<32>(bins, own);
}

__global__ void count_four_loads(unsigned* bins, const uint4* fours, unsigned size)
{
    __shared__ unsigned own[BINS * 32];
    unsigned lane = threadIdx.x % 32;
    clear<32>(own);
    unsigned step = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i + 3 * step < size; i += 4 * step) {
        uint4 one = fours[i], two = fours[i + step];
        uint4 three = fours[i + 2 * step], four = fours[i + 3 * step];
        add_sixteen<32>(own, one, lane);
        add_sixteen<32>(own, two, lane);
        add_sixteen<32>(own, three, lane);
        add_sixteen<32>(own, four, lane);
    }
    for (; i < size; i += step)
        add_sixteen<32>(own, fours[i], lane);
    add_up<32>(bins, own);
}

extern "C" {

int run_cub(void* room, size_t* bytes, const unsigned char* values, unsigned* bins, int size)
{
    return cub::DeviceHistogram::HistogramEven(
        room, *bytes, values, bins, int(BINS) + 1, 0, int(BINS), size);
}

void run_global(unsigned* bins, const unsigned char* values, unsigned size, int blocks, int threads)
{
    count_globally<<<blocks, threads>>>(bins, values, size);
}

void run_block(unsigned* bins, const unsigned char* values, unsigned size, int blocks, int threads)
{
    count_in_blocks<<<blocks, threads>>>(bins, values, size);
}

void run_wide(unsigned* bins, const uint4* fours, unsigned size, int blocks, int threads)
{
    count_in_copies<1><<<blocks, threads>>>(bins, fours, size / 16);
}

void run_copies(unsigned* bins, const uint4* fours, unsigned size, int blocks, int threads)
{
    count_in_copies<32><<<blocks, threads>>>(bins, fours, size / 16);
}

void run_two(unsigned* bins, const uint4* fours, unsigned size, int blocks, int threads)
{
    count_two_loads<<<blocks, threads>>>(bins, fours, size / 16);
}

void run_four(unsigned* bins, const uint4* fours, unsigned size, int blocks, int threads)
{
    count_four_loads<<<blocks, threads>>>(bins, fours, size / 16);
}

}
