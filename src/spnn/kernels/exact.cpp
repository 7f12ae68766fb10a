#include <spnn/kernels/bfloat_convolution.h>
#include <spnn/kernels/exact.h>

namespace spnn {
namespace {

thread_local bool exact = false;
thread_local bool bfloat = false;

}  // namespace

ScopedExactKernels::ScopedExactKernels(bool on) : before_(exact) { exact = on; }
ScopedExactKernels::~ScopedExactKernels() { exact = before_; }
bool exact_kernels() { return exact; }

ScopedBfloatProducts::ScopedBfloatProducts(bool on) : before_(bfloat) { bfloat = on && kernels::bfloat_tiles_available(); }
ScopedBfloatProducts::~ScopedBfloatProducts() { bfloat = before_; }
bool bfloat_products() { return bfloat; }

}  // namespace spnn
