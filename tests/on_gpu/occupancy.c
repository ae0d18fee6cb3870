/* NVIDIA's own occupancy calculator, asked for tests/recorded/occupancy.json:

       cc -I <CUDA's include folder> tests/occupancy.c -o occupancy -lm && ./occupancy

   Rows: compute capability, threads, registers, bytes of shared memory; then blocks. */
#include <stdio.h>
#include <limits.h>
#include <string.h>
#include <stddef.h>
#include <stdlib.h>
#include <math.h>
#include "cuda_occupancy.h"

static const int LIMITS[][6] = { /* capability, warps, shared, reserved, opt-in */
  {7, 5, 32, 64, 0, 64}, {8, 0, 64, 164, 1024, 163}, {8, 6, 48, 100, 1024, 99},
  {8, 9, 48, 100, 1024, 99}, {9, 0, 64, 228, 1024, 227}, {10, 0, 64, 228, 1024, 227},
  {12, 0, 48, 100, 1024, 99}};

int main(void) {
  int threads[] = {1, 32, 33, 96, 128, 200, 256, 384, 512, 768, 1000, 1024};
  int registers[] = {16, 32, 33, 40, 64, 72, 128, 168, 255};
  int shared[] = {0, 1024, 2049, 8448, 16640, 33024, 49152};
  const char *separator = "";
  printf("[");
  for (size_t c = 0; c < sizeof LIMITS / sizeof *LIMITS; ++c)
    for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t)
      for (size_t r = 0; r < sizeof registers / sizeof *registers; ++r)
        for (size_t s = 0; s < sizeof shared / sizeof *shared; ++s) {
          cudaOccDeviceProp p;
          cudaOccFuncAttributes f;
          cudaOccDeviceState d;
          cudaOccResult found;
          memset(&p, 0, sizeof p), memset(&f, 0, sizeof f), memset(&d, 0, sizeof d);
          p.computeMajor = LIMITS[c][0], p.computeMinor = LIMITS[c][1];
          p.maxThreadsPerBlock = 1024;
          p.maxThreadsPerMultiprocessor = 32 * LIMITS[c][2];
          p.regsPerBlock = p.regsPerMultiprocessor = 65536;
          p.warpSize = 32, p.numSms = 100;
          p.sharedMemPerBlock = 48 * 1024;
          p.sharedMemPerMultiprocessor = 1024 * LIMITS[c][3];
          p.sharedMemPerBlockOptin = 1024 * LIMITS[c][5];
          p.reservedSharedMemPerBlock = LIMITS[c][4];
          f.maxThreadsPerBlock = 1024, f.numRegs = registers[r];
          f.sharedSizeBytes = shared[s];
          f.partitionedGCConfig = PARTITIONED_GC_OFF;
          f.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
          d.carveoutConfig = 100;
          if (cudaOccMaxActiveBlocksPerMultiprocessor(&found, &p, &f, &d, threads[t], 0))
            return 1;
          printf("%s\n[%d, %d, %d, %d, %d, %d]", separator, LIMITS[c][0], LIMITS[c][1],
                 threads[t], registers[r], shared[s],
                 found.activeBlocksPerMultiprocessor);
          separator = ",";
        }
  printf("]\n");
  return 0;
}
