#include <spnn/core/errors.h>
#include <spnn/jobs/photo_editing.h>
#include <spnn/restoration/place.h>

#include <algorithm>
#include <cmath>

namespace spnn::engine {
namespace {

constexpr int kFastProjections = 3;   // of a pass that takes milliseconds

// Groups by number; attributes that the network has not are left out.
std::vector<std::vector<std::int64_t>> numbered_groups(const OutputInfo& outputs) {
  std::vector<std::vector<std::int64_t>> groups;
  for (const auto& names : outputs.exclusive) {
    auto& group = groups.emplace_back();
    for (const auto& name : names) {
      const auto found = std::ranges::find(outputs.names, name);
      if (found != outputs.names.end()) group.push_back(found - outputs.names.begin());
    }
  }
  return groups;
}

}  // namespace

PhotoWay photo_way(const PhotoEditing& editing, GuidanceOptions guidance, const SamplingOptions& sampling, torch::Device device) {
  const double keep = editing.keep.value_or(editing.views ? photo_keep : 1);
  if (!(keep >= 0 && keep <= 1)) throw UsageError(fmt::format("edit --keep: expected a number in [0, 1], got {}", keep));
  const auto asked_time = guidance.window_from;
  PhotoWay way;
  way.time = asked_time.value_or(std::lround((1 - keep) * static_cast<double>(photo_window)));
  guidance.window_from = std::max<std::int64_t>(way.time, 1);
  way.config = restorer_config(guidance, sampling, device);
  way.config.diffuse = !editing.fast && way.time > 0;
  way.config.hold = keep;
  if (editing.views && !editing.fast) way.config.photo = PhotoEditConfig{.redraw = {.noise = (1 - keep) * photo_noise, .time = asked_time}};
  if (editing.fast) way.config.finalize.iterations = std::min(way.config.finalize.iterations, kFastProjections);
  return way;
}

Wish wish_of(std::span<const AttributeRequest> requests, const SpnnModel& classifier, double amount) {
  WishConfig config{.wishes = {}, .amount = amount, .exclusive = numbered_groups(classifier.outputs)};
  const auto changes = attribute_changes(requests, classifier.outputs.names, /*graded=*/true);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    config.wishes.push_back({.attribute = changes[i].attribute, .present = changes[i].present, .probability = requests[i].probability, .value = requests[i].value});
  }
  return Wish(statistics_of(classifier), config);
}

Tensor place_of_wish(std::span<const AttributeRequest> requests, const SpnnModel& classifier) {
  if (!classifier.places.defined()) return {};
  std::vector<std::int64_t> attributes;
  for (const auto& change : attribute_changes(requests, classifier.outputs.names, /*graded=*/true)) attributes.push_back(change.attribute);
  return place_of(classifier.places, attributes, classifier.net->in_shape());
}

bool moves_others(std::span<const AttributeRequest> requests) {
  return std::ranges::any_of(requests, [](const AttributeRequest& request) {
    const auto strategy = strategy_from(request.strategy);
    return strategy != Strategy::automatic && strategy != Strategy::sparse;
  });
}

}  // namespace spnn::engine
