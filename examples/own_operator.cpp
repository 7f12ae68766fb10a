// Your own operator, given to the methods: every second row of a picture is seen. It needs g, its completion and a pseudo-inverse.
#include <spnn/spnn.h>

#include <iostream>

class EverySecondRow final : public spnn::Operator {
 public:
  explicit EverySecondRow(const spnn::Shape& in) : in_(in), out_{in.channels, in.height / 2, in.width} {}

  spnn::Tensor forward(const spnn::Tensor& x) const override { return rows(x, 0); }
  spnn::Completion complete(const spnn::Tensor& x) const override { return {rows(x, 0), {rows(x, 1)}}; }   // [seen | not seen]
  spnn::Tensor invert(const spnn::Completion& yz) const override { return torch::stack({yz.y, yz.z[0]}, 3).flatten(2, 3); }
  spnn::Tensor pinv(const spnn::Tensor& y) const override { return invert({y, {torch::zeros_like(y)}}); }
  spnn::Shape in_shape() const override { return in_; }
  spnn::Shape out_shape() const override { return out_; }

 private:
  spnn::Tensor rows(const spnn::Tensor& x, std::int64_t first) const { return x.slice(2, first, in_.height, 2); }
  spnn::Shape in_, out_;
};

int main() {
  const torch::NoGradGuard no_grad;
  const auto prior = spnn::load_prior(spnn::engine::model_file("", "fashion", "prior"));
  const auto g = std::make_shared<EverySecondRow>(prior->shape());
  const spnn::Degradation seen{.name = "every second row", .g = std::make_shared<spnn::OperatorProjector>(g)};

  const auto y = g->forward(torch::full(prior->shape().batched(1), 0.2));   // what was measured
  spnn::Observer silent;
  const auto x = spnn::restore_by("nlbp", {.prior = *prior, .g = seen, .y = y, .seeds = spnn::ImageSeeds(1, 1)}, {.sampler = {.steps = 20}}, silent);
  const auto miss = seen.inconsistency(x, y).item<float>();
  std::cout << "|g(x) - y| = " << miss << "\n";
  return miss < 1e-3 ? 0 : 1;
}
