#include <spnn/core/errors.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/projection/composed_projector.h>

namespace spnn {

ComposedProjector::ComposedProjector(std::shared_ptr<const SpnnProjector> g, std::shared_ptr<const LinearOperator> A)
    : g_(std::move(g)), A_(std::move(A)) {
  require(g_ && A_, "ComposedProjector", "a network and an operator", "none");
  require(A_->out_shape() == g_->in_shape() && A_->onto(), "ComposedProjector",
          fmt::format("an operator onto {}, the network's images", to_string(g_->in_shape())), to_string(A_->out_shape()));
}

Tensor ComposedProjector::small(const Tensor& x) const { return A_->forward(x).reshape(g_->in_shape().batched(x.size(0))); }

Completion ComposedProjector::complete(const Tensor& x) const {
  auto of_A = A_->complete(x);
  auto out = g_->complete(of_A.y.reshape(g_->in_shape().batched(x.size(0))));
  out.z.insert(out.z.end(), of_A.z.begin(), of_A.z.end());
  return out;
}

Tensor ComposedProjector::invert(const Completion& yz) const {
  const auto levels = g_->net().level_count();
  require(yz.z.size() >= levels, "ComposedProjector inverse", fmt::format("{} discarded parts or more", levels), std::to_string(yz.z.size()));
  const auto split = yz.z.begin() + static_cast<std::ptrdiff_t>(levels);
  const auto low = g_->invert({yz.y, {yz.z.begin(), split}});
  return A_->invert({low, {split, yz.z.end()}});
}

Probe ComposedProjector::probe(const Tensor& x) const {
  auto at = g_->probe(small(x));
  return {x, at.y, std::move(at.at)};
}

Tensor ComposedProjector::nlbp(const Probe& probe, const Tensor& y, const Tensor& lambda) const {
  const auto low = small(probe.x);
  return probe.x + A_->pinv(g_->nlbp(Probe{low, probe.y, probe.at}, y, lambda) - low);
}

std::shared_ptr<ComposedProjector> behind_pooling(std::shared_ptr<const SpnnProjector> g, std::int64_t size) {
  const auto own = g->in_shape();
  require(size > own.height && size % own.height == 0 && own.height == own.width, "size",
          fmt::format("a multiple of {}, the network's own", own.height), std::to_string(size));
  auto A = std::make_shared<AveragePooling>(Shape{own.channels, size, size}, size / own.height);
  return std::make_shared<ComposedProjector>(std::move(g), std::move(A));
}

}  // namespace spnn
