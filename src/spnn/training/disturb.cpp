#include <spnn/core/json_fields.h>
#include <spnn/training/disturb.h>
#include <spnn/training/labelled_batches.h>

namespace spnn {
namespace {

constexpr std::uint64_t kDisturbAmounts = 1, kDisturbNoise = 2;

// Two means over 3×3 pixels, the border repeated.
Tensor smoothed(const Tensor& x) {
  const auto once = torch::avg_pool2d(torch::replication_pad2d(x, {1, 1, 1, 1}), 3, 1);
  return torch::avg_pool2d(torch::replication_pad2d(once, {1, 1, 1, 1}), 3, 1);
}

}  // namespace

void to_json(Json& json, const DisturbConfig& c) { json = {{"share", c.share}, {"noise", c.noise}, {"blur", c.blur}}; }

void from_json(const Json& json, DisturbConfig& c) {
  JsonFields(json, "disturb").optional("share", c.share).optional("noise", c.noise).optional("blur", c.blur).no_others();
  require(c.share >= 0 && c.share <= 1 && c.noise >= 0 && c.blur >= 0 && c.blur <= 1, "disturb",
          "a share and a blur in [0, 1] and a noise of 0 or more", json.dump());
}

Tensor disturbed(const Tensor& x, const DisturbConfig& c, const Rng& rng, Share share) {
  if (!c.enabled()) return x;
  const auto rows = x.size(0);
  const auto draw = share_of(rng.fork(kDisturbAmounts).uniform({rows * share.size, 3, 1, 1}), share).to(x.options());
  const auto touched = draw.narrow(1, 0, 1).lt(c.share).to(x.dtype());
  auto out = x;
  if (c.blur > 0) out = out + touched * c.blur * draw.narrow(1, 1, 1) * (smoothed(x) - x);
  if (c.noise > 0) {
    const auto noise = rng.fork(kDisturbNoise).randn_per_image(x.sizes(), static_cast<std::uint64_t>(share.rank * rows), x.options());
    out = out + touched * c.noise * draw.narrow(1, 2, 1) * noise;
  }
  return out;
}

}  // namespace spnn
