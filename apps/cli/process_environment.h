#pragma once

#include <cstdlib>

namespace spnn {

// What has to be in the environment before libgomp and OpenBLAS load. What the user has set stays.
inline void prepare_environment() {
  constexpr int keep = 0;
  setenv("GOMP_SPINCOUNT", "1000", keep);   // spinning hurts on a busy machine
#if defined(__x86_64__)
  // OpenBLAS 0.3.21 knows Intel's CPUs by their model numbers and takes those it has not heard of for a Prescott of 2004:
  // a fifth of the speed on a Xeon of 2023. This is what it chooses for the models that it knows. On every AMD it stays with
  // AVX2: half the speed of a Zen 5, whose sgemm of 1024 gives 114 GFLOP/s a core so, 153 as SkylakeX and 216 as Cooperlake.
  __builtin_cpu_init();
  const bool amd = __builtin_cpu_is("amd");
  if (!amd && !__builtin_cpu_is("intel")) return;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512 && amd && __builtin_cpu_supports("avx512bf16")) setenv("OPENBLAS_CORETYPE", "Cooperlake", keep);
  else if (avx512 && !amd) setenv("OPENBLAS_CORETYPE", "SkylakeX", keep);
  else if (!amd && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) setenv("OPENBLAS_CORETYPE", "Haswell", keep);
#endif
}

}  // namespace spnn
