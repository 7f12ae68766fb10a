#include <spnn/core/errors.h>
#include <spnn/flows/augment.h>

namespace spnn {

Augmentation::Augmentation(const Shape& in, std::int64_t channels, std::shared_ptr<Subnet> q)
    : in_(in), channels_(channels), q_(std::move(q)) {
  require(channels > 0, "Augmentation", "one channel or more", std::to_string(channels));
  if (q_.net()) register_module("q", q_.net());
}

Augmentation::Lifted Augmentation::lift(const Tensor& x, const Tensor& noise) const {
  require_shape(x, in_, "Augmentation");
  require_shape(noise, noise_shape(), "Augmentation noise");
  const auto e = q_.place(noise, x);
  return {torch::cat({x, e}, 1), -q_.log_p(e, x)};
}

}  // namespace spnn
