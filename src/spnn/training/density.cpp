#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/core/json_fields.h>
#include <spnn/flows/dequantise.h>
#include <spnn/training/density.h>

#include <algorithm>

namespace spnn {
namespace {

// Batches fork 1 and 2 from the same step.
constexpr std::uint64_t kDensityDequantise = 3, kDensityNoise = 4, kDensityInit = 5, kDensityStart = 6, kDensityValidation = 7;

Tensor uniform_per_image(torch::IntArrayRef sizes, std::uint64_t first, const Rng& rng) {
  std::vector<Tensor> images;
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    images.push_back(rng.fork(first + static_cast<std::uint64_t>(i)).uniform(sizes.slice(1)));
  }
  return torch::stack(images);
}

}  // namespace

void to_json(Json& json, const DensityRecipe& r) {
  json = {{"flow", r.flow}, {"augment", r.augment}, {"start_images", r.start_images},
          {"validation_images", r.validation_images}, {"train", r.train}};
}

void from_json(const Json& json, DensityRecipe& r) {
  JsonFields(json, "density")
      .required("flow", r.flow)
      .optional("augment", r.augment)
      .optional("start_images", r.start_images)
      .optional("validation_images", r.validation_images)
      .required("train", r.train)
      .no_others();
  require(r.start_images > 1 && r.validation_images > 0, "density", "start_images above 1 and validation_images above 0",
          fmt::format("{} and {}", r.start_images, r.validation_images));
}

DensityObjective::DensityObjective(DensityRecipe recipe, const Dataset& train, const Dataset& val, Milestone milestone)
    : recipe_(std::move(recipe)),
      val_(val),
      milestone_(std::move(milestone)),
      batches_(train, {.augment = recipe_.augment, .batch = recipe_.train.batch, .seed = recipe_.train.seed}),
      flow_(std::make_shared<Flow>(recipe_.flow)) {
  require_shape(train.images, recipe_.flow.input, "the flow's training images");
  const Rng rng(recipe_.train.seed);
  initialise_flow(*flow_, rng.fork(kDensityInit));
  const auto count = std::min(recipe_.start_images, train.size());
  const auto images = train.images.index_select(0, rng.fork(kDensityStart).permutation(train.size()).slice(0, 0, count));
  const auto x = dequantise(images, recipe_.flow.bits, rng.fork(kDensityStart).fork(1).uniform(images.sizes()));
  flow_->start_from_data(x, flow_->noise(count, rng.fork(kDensityStart).fork(2)));
}

Losses DensityObjective::losses(std::int64_t step, Share share) {
  const auto rng = Rng(recipe_.train.seed).fork(static_cast<std::uint64_t>(step) << 8);
  const auto bytes = to_bytes(batches_.get(step, share).images);
  const auto first = static_cast<std::uint64_t>(share.rank * bytes.size(0));
  const auto x = dequantise(bytes, recipe_.flow.bits, uniform_per_image(bytes.sizes(), first, rng.fork(kDensityDequantise)));
  const auto noise = flow_->noise(bytes.size(0), rng.fork(kDensityNoise).fork(static_cast<std::uint64_t>(share.rank)));
  const MixScope scope(*flow_);
  return {{"bits_per_dim", bits_per_dim(flow_->log_p(x, noise), recipe_.flow.input.size(), recipe_.flow.bits).mean()}};
}

Validation DensityObjective::validate() {
  const auto count = std::min(recipe_.validation_images, val_.size());
  const auto bits = bits_per_dim_over(*flow_, val_.images.slice(0, 0, count), Rng(kDensityValidation)).mean().item<double>();
  return {.score = bits, .figures = {{"bits_per_dim", bits}}};
}

void DensityObjective::milestone(std::int64_t step) {
  if (milestone_) milestone_(*flow_, step);
}

std::map<std::string, std::string> DensityObjective::metadata() const {
  return {{"kind", "density"}, {"architecture", Json(recipe_.flow).dump()}, {"recipe", Json(recipe_).dump()}};
}

Tensor bits_per_dim_over(const Flow& flow, const Tensor& images, const Rng& rng, std::int64_t batch) {
  const torch::NoGradGuard no_grad;
  const auto& config = flow.config();
  std::vector<Tensor> all;
  for (std::int64_t i = 0; i < images.size(0); i += batch) {
    const auto bytes = images.slice(0, i, std::min(i + batch, images.size(0)));
    const auto first = static_cast<std::uint64_t>(i);
    const auto x = dequantise(bytes, config.bits, uniform_per_image(bytes.sizes(), first, rng));
    const auto noise = flow.noise(bytes.size(0), rng.fork(first).fork(1));
    all.push_back(bits_per_dim(flow.log_p(x, noise), config.input.size(), config.bits));
  }
  return torch::cat(all);
}

}  // namespace spnn
