#pragma once

#include <spnn/restoration/target.h>

#include <memory>

namespace spnn {

// A target that is asked once, at the first guided step, and stands from then on. Asked anew at every step, the outputs
// nobody wants to change follow whatever the last step did to them, and a strong edit runs away from all images. What
// was seen at the first step, of a blurred x̂0, is brought within `spread` standard deviations of the training outputs.
// One object serves one batch.
inline Target taken_once(Target target, const LogitStatistics& statistics, double spread = 2.0) {
  const auto sigma = statistics.covariance.diagonal().sqrt();
  return [target = std::move(target), low = statistics.mean - spread * sigma, high = statistics.mean + spread * sigma,
          taken = std::make_shared<Tensor>()](const Tensor& y_cur) {
    if (!taken->defined()) {
      const auto y = y_cur.reshape({y_cur.size(0), -1});
      const auto likely = torch::minimum(torch::maximum(y, low.to(y.options())), high.to(y.options()));
      *taken = target(likely.reshape(y_cur.sizes())).clone();
    }
    return taken->to(y_cur.options());
  };
}

}  // namespace spnn
