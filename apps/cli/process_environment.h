#pragma once

#include <cstdlib>

namespace spnn {

// What has to be in the environment before libgomp and OpenBLAS load. What the user has set stays.
inline void prepare_environment() {
  constexpr int keep = 0;
  setenv("GOMP_SPINCOUNT", "1000", keep);   // spinning hurts on a busy machine
#if defined(__x86_64__)
  // OpenBLAS 0.3.21 knows Intel's CPUs by their model numbers and takes those it has not heard of for a Prescott of 2004:
  // a fifth of the speed on a Xeon of 2023. This is what it chooses for the models that it knows.
  __builtin_cpu_init();
  if (!__builtin_cpu_is("intel")) return;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx512) setenv("OPENBLAS_CORETYPE", "SkylakeX", keep);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) setenv("OPENBLAS_CORETYPE", "Haswell", keep);
#endif
}

}  // namespace spnn
