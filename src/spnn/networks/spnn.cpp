#include <spnn/core/errors.h>
#include <spnn/networks/build_blocks.h>
#include <spnn/networks/spnn.h>
#include <spnn/networks/subnets.h>

#include <algorithm>

namespace spnn {
namespace {

bool is_vector(const Shape& shape) { return shape.height == 1 && shape.width == 1; }

Tensor as_image(const Tensor& x) { return x.dim() == 2 ? x.unsqueeze(-1).unsqueeze(-1) : x; }

Tensor as_interface(const Tensor& x, const Shape& shape) { return is_vector(shape) ? x.flatten(1) : x; }

}  // namespace

Spnn::Spnn(const SpnnConfig& config) : config_(config) {
  const auto& in = config.input;
  require(in.channels > 0 && in.height > 0 && in.width > 0, "Spnn", "a positive input shape", to_string(in));
  require(!config.blocks.empty(), "Spnn", "at least one block", "none");
  Shape shape = in;
  for (std::size_t b = 0; b < config.blocks.size(); ++b) {
    auto block = build_block(config.blocks[b], shape, b);
    shape = block->out_shape();
    add_block(std::move(block));
  }
  const auto names = std::exchange(config_.r_sets, {});
  for (const auto& name : names) add_r_set(name, Rng(0));
}

Spnn::Spnn(const std::vector<std::shared_ptr<Block>>& blocks) {
  require(!blocks.empty(), "Spnn", "at least one block", "none");
  config_.name = "blocks";
  config_.input = blocks.front()->in_shape();
  for (const auto& block : blocks) add_block(block);
}

void Spnn::add_block(std::shared_ptr<Block> block) {
  const auto b = blocks_.size();
  const auto where = fmt::format("block {}", b);
  require(b == 0 || block->in_shape() == out_shape(), where, fmt::format("an input of {}", b == 0 ? "" : to_string(out_shape())),
          to_string(block->in_shape()));
  const auto surjection = std::dynamic_pointer_cast<Surjection>(block);
  require(block->discards() == (surjection != nullptr), where, "a Surjection where something is discarded", "a block that discards and is none");
  if (b == 0) {
    named_blocks_ = register_module("pinn", std::make_shared<torch::nn::Module>())->register_module("blocks", std::make_shared<torch::nn::Module>());
  }
  named_blocks_->register_module(std::to_string(b), block);
  if (surjection) {
    levels_.push_back(surjection);
    level_block_.push_back(b);
    r_sets_["r"].push_back(surjection->r_net());
  }
  blocks_.push_back(std::move(block));
}

Tensor Spnn::entering(const Tensor& x) const {
  require_shape(x, in_shape(), "Spnn");
  return as_image(x);
}

Tensor Spnn::leaving_input(const Tensor& x) const { return as_interface(x, in_shape()); }

Tensor Spnn::forward(const Tensor& x) const {
  Tensor h = entering(x);
  for (const auto& block : blocks_) h = block->forward(h);
  return as_interface(h, out_shape());
}

Spnn::Trace Spnn::trace(const Tensor& x) const {
  Trace trace;
  trace.levels.reserve(levels_.size());
  Tensor h = entering(x);
  for (const auto& block : blocks_) {
    auto [y, z] = block->complete(h);
    require(z.size() == (block->discards() ? 1U : 0U), "Spnn", "one discarded part of a Surjection and none of other blocks",
            std::to_string(z.size()));
    if (!z.empty()) trace.levels.push_back({y, z.front()});
    h = y;
  }
  trace.y = as_interface(h, out_shape());
  return trace;
}

Completion Spnn::complete(const Tensor& x) const {
  auto [y, levels] = trace(x);
  Completion out{y, {}};
  for (auto& level : levels) out.z.push_back(std::move(level.z));
  return out;
}

Tensor Spnn::descend(const Tensor& y, const PickZ& z) const {
  require_shape(y, out_shape(), "Spnn inverse");
  Tensor h = as_image(y);
  auto level = levels_.size();
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    if ((*block)->discards()) {
      --level;
      h = (*block)->invert({h, {z(level, h)}});
    } else {
      h = (*block)->invert({h, {}});
    }
  }
  return leaving_input(h);
}

std::vector<Tensor> Spnn::picks(const Tensor& y, const PickZ& z) const {
  require_shape(y, out_shape(), "Spnn inverse");
  std::vector<Tensor> picked(levels_.size());
  Tensor h = as_image(y);
  auto level = levels_.size();
  for (auto block = blocks_.rbegin(); level > 0; ++block) {
    if (!(*block)->discards()) {
      h = (*block)->invert({h, {}});
      continue;
    }
    --level;
    picked[level] = z(level, h);
    if (level > 0) h = (*block)->invert({h, {picked[level]}});
  }
  return picked;
}

Tensor Spnn::invert(const Completion& yz) const {
  require(yz.z.size() == levels_.size(), "Spnn inverse", fmt::format("{} discarded parts", levels_.size()),
          fmt::format("{}", yz.z.size()));
  return descend(yz.y, [&](std::size_t l, const Tensor&) { return yz.z[l]; });
}

Tensor Spnn::pinv(const Tensor& y) const {
  return descend(y, [&](std::size_t l, const Tensor& y_l) { return r(l, y_l); });
}

const Spnn::RSet& Spnn::r_set(const std::string& name) const {
  const auto found = r_sets_.find(name);
  require(found != r_sets_.end(), "Spnn", fmt::format("a set of r nets called '{}'", name), "none in this model");
  return found->second;
}

Spnn::RSet Spnn::build_r_set() const {
  RSet set;
  require(!config_.blocks.empty(), "Spnn", "a network with a configuration", "one of blocks that were given");
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const auto b = level_block_[l];
    set.push_back(build_r(std::get<SurjectionBlockConfig>(config_.blocks[b]), levels_[l]->out_shape(),
                          levels_[l]->z_shape().channels, b));
  }
  return set;
}

Spnn::RSet Spnn::make_r_set(const Rng& rng) const {
  auto set = build_r_set();
  for (std::size_t l = 0; l < set.size(); ++l) {
    initialise_subnet(*set[l], rng.fork(l));
    set[l]->to(options().device(), torch::typeMetaToScalarType(options().dtype()));
  }
  return set;
}

const Spnn::RSet& Spnn::add_r_set(const std::string& name, const Rng& rng) {
  require(!has_r_set(name), "Spnn", "a new name for a set of r nets", fmt::format("'{}'", name));
  auto set = make_r_set(rng);
  for (std::size_t l = 0; l < set.size(); ++l) levels_[l]->register_module("r_" + name, set[l]);
  config_.r_sets.push_back(name);
  return r_sets_[name] = std::move(set);
}

std::vector<Tensor> Spnn::r_parameters(const std::string& set) const {
  std::vector<Tensor> all;
  for (const auto& net : r_set(set)) {
    for (const auto& parameter : net->parameters()) all.push_back(parameter);
  }
  return all;
}

std::vector<Tensor> Spnn::g_parameters() const {
  std::vector<Tensor> all;
  for (const auto& item : named_parameters()) {
    const auto& name = item.key();
    if (name.find(".r.") == std::string::npos && name.find(".r_") == std::string::npos) all.push_back(item.value());
  }
  return all;
}

torch::TensorOptions Spnn::options() const {
  const auto all = parameters();
  return all.empty() ? torch::TensorOptions(torch::kFloat32) : all.front().options().requires_grad(false);
}

}  // namespace spnn
