#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/grid_energy.h>
#include <spnn/evaluation/photo_measures.h>
#include <spnn/image/image.h>

#include <cmath>
#include <limits>

namespace spnn {
namespace {

double share_of_true(const Tensor& mask) { return mask.to(torch::kFloat64).mean().item<double>(); }

double share_of_true(const Tensor& mask, const Tensor& among) {
  if (!among.defined() || !among.any().item<bool>()) return std::numeric_limits<double>::quiet_NaN();
  return share_of_true(mask.masked_select(among));
}

}  // namespace

PhotoMeasures measure_photo_edits(const PhotoEdits& e) {
  require(e.photos.sizes() == e.edited.sizes() && e.photos.size(0) > 0, "photo edits", "as many edits as photos, of their size",
          to_string(e.edited.sizes()));
  const auto wanted = e.wanted.gt(0.5);
  PhotoMeasures m{.images = e.photos.size(0)};
  m.by_g = share_of_true(e.y_edited.select(1, e.attribute).gt(0).eq(wanted));
  const auto seen = e.judge_edited.select(1, e.attribute).gt(0).eq(wanted);
  m.by_judge = share_of_true(seen);
  m.of_men = share_of_true(seen, e.men.defined() ? e.men.gt(0.5) : e.men);
  m.of_women = share_of_true(seen, e.men.defined() ? e.men.lt(0.5) : e.men);
  m.judge_before = share_of_true(e.judge_photos.select(1, e.attribute).gt(0).eq(wanted));
  const auto changed = e.judge_edited.gt(0).ne(e.judge_photos.gt(0));
  const auto other = torch::arange(changed.size(1), torch::kInt64).ne(e.attribute);
  m.others_changed = changed.size(1) > 1 ? share_of_true(changed.index({torch::indexing::Slice(), other})) : 0;
  m.identity = e.identity_photos.defined() ? (e.identity_photos * e.identity_edited).sum(1).mean().item<double>() : std::numeric_limits<double>::quiet_NaN();
  const auto difference = to_unit(e.edited) - to_unit(e.photos);
  m.rms = difference.square().flatten(1).mean(1).sqrt().mean().item<double>();
  const auto length = e.features_photos.norm(2, 1).mean().item<double>();
  m.feature_distance = (e.features_edited - e.features_photos).norm(2, 1).mean().item<double>() / std::max(length, 1e-12);
  for (std::size_t i = 0; i < grid_periods.size(); ++i) {
    const bool fits = e.photos.size(2) % grid_periods[i] == 0 && e.photos.size(2) / grid_periods[i] >= 4;
    m.grid[i] = fits ? grid_energy(difference, grid_periods[i]) : std::numeric_limits<double>::quiet_NaN();
  }
  m.seconds_per_image = e.seconds / static_cast<double>(m.images);
  return m;
}

PhotoMeasures mean_of(const std::vector<PhotoMeasures>& all) {
  require(!all.empty(), "photo measures", "one or more", "none");
  PhotoMeasures out;
  const auto n = static_cast<double>(all.size());
  for (const auto& m : all) {
    out.images += m.images;
    for (auto member : {&PhotoMeasures::by_g, &PhotoMeasures::by_judge, &PhotoMeasures::of_men, &PhotoMeasures::of_women, &PhotoMeasures::judge_before, &PhotoMeasures::identity,
                        &PhotoMeasures::others_changed, &PhotoMeasures::rms, &PhotoMeasures::feature_distance, &PhotoMeasures::seconds_per_image}) {
      out.*member += m.*member / n;
    }
    for (std::size_t i = 0; i < out.grid.size(); ++i) out.grid[i] += m.grid[i] / n;
  }
  return out;
}

Json to_json(const PhotoMeasures& m) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"images", m.images},
          {"agreement", m.by_g},
          {"judge_agreement", m.by_judge},
          {"judge_agreement_men", number(m.of_men)},
          {"judge_agreement_women", number(m.of_women)},
          {"judge_before", m.judge_before},
          {"identity", number(m.identity)},
          {"others_changed", m.others_changed},
          {"rms", m.rms},
          {"feature_distance", m.feature_distance},
          {"grid_2", number(m.grid[0])},
          {"grid_4", number(m.grid[1])},
          {"grid_8", number(m.grid[2])},
          {"seconds_per_image", m.seconds_per_image}};
}

}  // namespace spnn
