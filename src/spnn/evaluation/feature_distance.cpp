#include <spnn/core/errors.h>
#include <spnn/evaluation/feature_distance.h>
#include <spnn/image/image.h>

namespace spnn {
namespace {

constexpr std::int64_t distance_batch = 64;

// The network's parts by their kind, in the order in which images pass them: they are nobody's business but a measure's.
struct Trunk {
  std::shared_ptr<Conv2d> stem;
  std::vector<std::shared_ptr<JudgeBlock>> blocks;

  explicit Trunk(const Identity& net) {
    for (const auto& part : net.modules(/*include_self=*/false)) {
      if (!stem) stem = std::dynamic_pointer_cast<Conv2d>(part);
      if (const auto block = std::dynamic_pointer_cast<JudgeBlock>(part)) blocks.push_back(block);
    }
    require(stem && !blocks.empty(), "feature distance", "a network with residual blocks", fmt::format("one of {}", blocks.size()));
  }

  std::vector<Tensor> maps(const Tensor& x) const {
    std::vector<Tensor> all;
    auto h = stem->forward(torch::pixel_unshuffle(x, 2));
    for (const auto& block : blocks) {
      h = block->forward(h);
      all.push_back(h / h.norm(2, 1, /*keepdim=*/true).clamp_min(1e-6));
    }
    return all;
  }
};

}  // namespace

Tensor feature_distance(const Identity& net, const Tensor& images, const Tensor& originals) {
  const torch::NoGradGuard no_grad;
  require_shape(images, net.in_shape(), "feature distance");
  const Trunk trunk(net);
  std::vector<Tensor> distances;
  for (std::int64_t i = 0; i < images.size(0); i += distance_batch) {
    const auto last = std::min(i + distance_batch, images.size(0));
    const auto a = trunk.maps(to_unit(images.slice(0, i, last))), b = trunk.maps(to_unit(originals.slice(0, i, last)));
    auto sum = torch::zeros({last - i});
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]).square().sum(1).flatten(1).mean(1);
    distances.push_back(sum / static_cast<double>(a.size()));
  }
  return torch::cat(distances);
}

}  // namespace spnn
