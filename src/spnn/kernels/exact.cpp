#include <spnn/kernels/exact.h>

namespace spnn {
namespace {

thread_local bool exact = false;

}  // namespace

ScopedExactKernels::ScopedExactKernels(bool on) : before_(exact) { exact = on; }
ScopedExactKernels::~ScopedExactKernels() { exact = before_; }
bool exact_kernels() { return exact; }

}  // namespace spnn
