#include <spnn/core/errors.h>
#include <spnn/jobs/guided_work.h>
#include <spnn/jobs/photo_editing.h>
#include <spnn/restoration/taken_once.h>

#include <algorithm>

namespace spnn::engine {
namespace {

torch::Device device_of(const SpnnModel& classifier) { return classifier.net->options().device(); }

std::string described(const AttributeTarget& target, const EditRequest& wish) {
  std::string text;
  for (std::size_t i = 0; i < wish.attributes.size(); ++i) {
    text += fmt::format("{}{}={} ({}, logit {:.1f})", text.empty() ? "" : ", ", wish.attributes[i].name,
                        wish.attributes[i].present ? 1 : 0, spnn::to_string(target.strategies()[i]),
                        target.goal()[static_cast<std::int64_t>(i)].item<double>());
  }
  return text;
}

AttributeTarget target_of(const SpnnModel& classifier, const EditRequest& wish, bool graded) {
  return {statistics_of(classifier), {.changes = attribute_changes(wish.attributes, classifier.outputs.names, graded),
                                      .strength = wish.strength, .margin = wish.margin}};
}

bool leaves_others(const EditRequest& wish, const SpnnModel& classifier) {
  return classifier.outputs.task == "attributes" && !moves_others(wish.attributes);
}

// y' of each photo, found once: outputs that nobody asked about stay as they are, unless a strategy that moves them was asked for. A class
// takes the place of another, so there they always move.
Tensor goals_of(const EditRequest& wish, const SpnnModel& classifier, const Tensor& y, Observer& observer) {
  if (leaves_others(wish, classifier)) return wish_of(wish.attributes, classifier, wish.amount)(y);
  const auto target = target_of(classifier, wish, /*graded=*/true);
  observer.message(described(target, wish));
  return taken_once(target, statistics_of(classifier))(y);
}

Tensor outputs_in_batches(const BackProjector& g, const Tensor& photos, std::int64_t batch) {
  std::vector<Tensor> outputs;
  for (std::int64_t first = 0; first < photos.size(0); first += batch) {
    outputs.push_back(g.forward(photos.slice(0, first, std::min(first + batch, photos.size(0)))));
  }
  return torch::cat(outputs);
}

}  // namespace

GuidedWork edit_from_noise(const SpnnModel& classifier, const EditRequest& wish, Observer& observer) {
  if (wish.fast || wish.keep) throw UsageError(fmt::format("edit --{}: expected a photo, got none", wish.fast ? "fast" : "keep"));
  const auto statistics = statistics_of(classifier);
  const auto target = target_of(classifier, wish, /*graded=*/false);
  observer.message(described(target, wish));
  const auto guidance = for_editing(wish.guidance, classifier, observer);
  return {.g = make_projector(classifier, guidance),
          .config = restorer_config(guidance, wish.sampling, device_of(classifier)),
          .task = {.seeds = ImageSeeds(wish.seed, wish.samples),
                   .target = [target, statistics, each_step = wish.each_step](std::int64_t, std::int64_t) {
                     return each_step ? Target(target) : taken_once(target, statistics);
                   },
                   .guidance = make_guidance(guidance, target.controlled())}};
}

GuidedWork edit_of_photos(const SpnnModel& classifier, const Tensor& photos, const EditRequest& wish, Observer& observer) {
  const bool views = !wish.each_step && leaves_others(wish, classifier);
  auto way = photo_way({.fast = wish.fast, .keep = wish.keep, .views = views}, wish.guidance, wish.sampling, device_of(classifier));
  // Another class is another picture: it is drawn again.
  if (wish.redraw || (classifier.outputs.task != "attributes" && !wish.fast && !wish.keep)) {
    const auto guidance = for_editing(wish.guidance, classifier, observer);
    way = {.config = restorer_config(guidance, wish.sampling, device_of(classifier)), .time = guidance.window_from.value()};
  }
  const auto g = make_projector(classifier, wish.guidance);
  if (way.config.photo) {
    way.config.photo->spin.graded = std::ranges::any_of(wish.attributes, [](const AttributeRequest& a) { return a.probability || a.value; });
    return {.g = g,
            .config = way.config,
            .task = {.seeds = ImageSeeds(wish.seed, photos.size(0)),
                     .target = [aim = wish_of(wish.attributes, classifier, wish.amount)](std::int64_t, std::int64_t) { return Target(aim); },
                     .start = {.photo = photos, .time = way.time},
                     .place = place_of_wish(wish.attributes, classifier)}};
  }
  const auto goal = goals_of(wish, classifier, outputs_in_batches(*g, photos, way.config.batch), observer);
  GuidedWork work{.g = g,
                  .config = way.config,
                  .task = {.seeds = ImageSeeds(wish.seed, photos.size(0)),
                           .target = [goal](std::int64_t first, std::int64_t last) { return fixed(goal.slice(0, first, last)); },
                           .guidance = make_guidance(wish.guidance),
                           .start = {.photo = photos, .time = way.time}}};
  if (wish.each_step) {
    const auto target = target_of(classifier, wish, /*graded=*/true);
    work.task.target = [target](std::int64_t, std::int64_t) { return Target(target); };
    work.task.guidance = make_guidance(wish.guidance, target.controlled());
  }
  return work;
}

GuidedWork reconstruction_of(const SpnnModel& classifier, const Tensor& y, const ReconstructRequest& wish, Observer& observer) {
  const auto guidance = for_reconstruction(wish.guidance, classifier, observer);
  return {.g = make_projector(classifier, guidance),
          .config = restorer_config(guidance, wish.sampling, device_of(classifier)),
          .task = {.seeds = ImageSeeds(wish.seed, y.size(0)),
                   .target = [y](std::int64_t first, std::int64_t last) { return fixed(y.slice(0, first, last)); },
                   .guidance = make_guidance(guidance)}};
}

Tensor outputs_with(const SpnnModel& classifier, const ReconstructRequest& wish) {
  const auto changes = attribute_changes(wish.attributes, classifier.outputs.names);
  const auto y = expected_outputs(statistics_of(classifier), {.changes = changes, .strength = wish.strength, .margin = wish.margin});
  return y.reshape({1, -1}).to(torch::kFloat32);
}

}  // namespace spnn::engine
