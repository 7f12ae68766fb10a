#include <spnn/blocks/affine_surjection.h>
#include <spnn/blocks/cayley_mix.h>
#include <spnn/blocks/coupling.h>
#include <spnn/blocks/curve.h>
#include <spnn/blocks/householder_mix.h>
#include <spnn/blocks/lapped_unshuffle.h>
#include <spnn/blocks/line_map.h>
#include <spnn/blocks/pixel_unshuffle.h>
#include <spnn/core/errors.h>
#include <spnn/networks/build_blocks.h>
#include <spnn/networks/subnets.h>

namespace spnn {
namespace {

std::shared_ptr<OrthogonalMix> build_mix(const MixConfig& mix, std::int64_t channels) {
  if (mix.kind == MixConfig::Kind::householder) {
    return std::make_shared<HouseholderMix>(HouseholderMixConfig{channels, mix.reflections});
  }
  return std::make_shared<CayleyMix>(CayleyMixConfig{channels, mix.epsilon});
}

CouplingNets build_nets(const SubnetConfig& s, const std::optional<SubnetConfig>& t, const Shape& u1,
                        std::int64_t moved, const std::string& where) {
  if (!t) return {.s = nullptr, .t = nullptr, .st = make_subnet(s, u1, 2 * moved, where + " st")};
  return {.s = make_subnet(s, u1, moved, where + " s"), .t = make_subnet(*t, u1, moved, where + " t"), .st = nullptr};
}

class Builder {
 public:
  Builder(const Shape& in, std::size_t b) : in_(in), b_(b), where_(fmt::format("block {}", b)) {}

  std::shared_ptr<Block> operator()(const UnshuffleBlockConfig& c) const {
    return std::make_shared<PixelUnshuffle>(PixelUnshuffleConfig{in_, c.factor_h, c.factor_w});
  }

  std::shared_ptr<Block> operator()(const LappedBlockConfig& c) const {
    return std::make_shared<LappedUnshuffle>(LappedUnshuffleConfig{.in = in_, .factor = c.factor, .colour = c.colour});
  }

  std::shared_ptr<Block> operator()(const SurjectionBlockConfig& c) const {
    const AffineSurjectionConfig config{.in = in_, .out_channels = c.out, .scale_bound = c.scale_bound};
    const auto z_channels = in_.channels - c.out;
    require_split(c.out);
    const Shape z{z_channels, in_.height, in_.width};
    const Shape y{c.out, in_.height, in_.width};
    return std::make_shared<AffineSurjection>(config, build_mix(c.mix, in_.channels),
                                              build_nets(c.s, c.t, z, c.out, where_),
                                              build_r(c, y, z_channels, b_));
  }

  std::shared_ptr<Block> operator()(const CouplingBlockConfig& c) const {
    const auto moved = c.moved > 0 ? c.moved : in_.channels / 2;
    require_split(moved);
    const CouplingConfig config{.in = in_, .moved_channels = moved, .scale_bound = c.scale_bound};
    const Shape u1{in_.channels - moved, in_.height, in_.width};
    auto mix = build_mix(c.mix, in_.channels);
    if (c.kind == CouplingBlockConfig::Kind::affine) {
      return std::make_shared<AffineCoupling>(config, std::move(mix), build_nets(c.s, c.t, u1, moved, where_));
    }
    require(c.t.has_value(), where_, "a net t", "none");
    return std::make_shared<AdditiveCoupling>(config, std::move(mix), make_subnet(*c.t, u1, moved, where_ + " t"));
  }

  std::shared_ptr<Block> operator()(const CurveBlockConfig& c) const {
    return std::make_shared<Curve>(CurveConfig{.in = in_, .pieces = c.pieces, .slope_bound = c.slope_bound});
  }

  std::shared_ptr<Block> operator()(const LinesBlockConfig& c) const {
    using Axis = LineMapConfig::Axis;
    const auto axis = c.axis == LinesBlockConfig::Axis::rows ? Axis::rows : Axis::columns;
    return std::make_shared<LineMap>(LineMapConfig{.in = in_, .axis = axis, .colours = c.colours, .gain_bound = c.gain_bound});
  }

 private:
  void require_split(std::int64_t first) const {
    require(first > 0 && first < in_.channels, where_,
            fmt::format("a split of {} into two parts", to_string(in_)), fmt::format("{} channels", first));
  }

  Shape in_;
  std::size_t b_;
  std::string where_;
};

}  // namespace

std::shared_ptr<Block> build_block(const BlockConfig& config, const Shape& in, std::size_t b) {
  return std::visit(Builder(in, b), config);
}

std::shared_ptr<Subnet> build_r(const SurjectionBlockConfig& config, const Shape& y, std::int64_t z_channels,
                                std::size_t b) {
  return make_subnet(config.r, y, z_channels, fmt::format("block {} r", b));
}

}  // namespace spnn
