#pragma once

// Include before any Highway header. The kernels keep vectors in arrays, which the length-agnostic instruction sets do
// not allow, and exchange lanes, which Highway's scalar target cannot: x86 starts at SSE4 (every CPU since 2008).
#include <hwy/detect_compiler_arch.h>
#if HWY_ARCH_X86
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_DISABLED_TARGETS (HWY_SCALAR | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
