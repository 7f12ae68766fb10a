#include <spnn/core/errors.h>
#include <spnn/evaluation/opinion.h>
#include <spnn/image/image.h>

#include <algorithm>
#include <cmath>

namespace spnn {

Opinion opinion_on(const Judge& judge, const Tensor& images, std::int64_t batch) {
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> logits, features;
  const auto device = judge.parameters().front().device();
  for (std::int64_t first = 0; first < images.size(0); first += batch) {
    const auto seen = judge.features(to_unit(images.slice(0, first, std::min(first + batch, images.size(0)))).to(device));
    features.push_back(seen.to(torch::kCPU));
    logits.push_back(judge.logits(seen).to(torch::kCPU));
  }
  require(!logits.empty(), "judge", "one image or more", "none");
  return {torch::cat(logits), torch::cat(features)};
}

Baseline make_baseline(const Tensor& target, Opinion real, Opinion unguided, const Tensor& held_out_features,
                       const Tensor& train_features) {
  Baseline baseline{.target = target,
                    .real = std::move(real),
                    .unguided = std::move(unguided),
                    .held_out = gaussian_of(held_out_features)};
  baseline.frechet_real = frechet_distance(gaussian_of(train_features), baseline.held_out);
  baseline.frechet_prior = frechet_distance(gaussian_of(baseline.unguided.features), baseline.held_out);
  return baseline;
}

RestorationMeasures measure(Task task, const RestoredSet& set, const Baseline& baseline) {
  RestorationMeasures m;
  m.by_g = agreement_of(task, set.y, baseline.target);
  m.by_judge = agreement_of(task, set.opinion.logits, baseline.target);
  m.judge_real = agreement_of(task, baseline.real.logits, baseline.target).mean;
  m.judge_prior = chance_agreement(task, baseline.unguided.logits, baseline.target);
  m.transfer_score = transfer_score(m.by_judge.mean, m.judge_prior, m.judge_real);
  m.frechet = frechet_distance(gaussian_of(set.opinion.features), baseline.held_out);
  m.frechet_prior = baseline.frechet_prior;
  m.frechet_real = baseline.frechet_real;
  m.consistency_before = set.consistency_before;
  m.consistency_after = (set.y - baseline.target).square().mean(1).sqrt().mean().item<double>();
  m.seconds_per_image = set.seconds_per_image;
  m.images = set.y.size(0);
  return m;
}

Json to_json(const RestorationMeasures& m, const std::vector<std::string>& names) {
  Json json = {{"images", m.images},
               {"agreement", m.by_g.mean},
               {"mean_abs_dp", m.by_g.mean_abs_dp},
               {"judge_agreement", m.by_judge.mean},
               {"judge_mean_abs_dp", m.by_judge.mean_abs_dp},
               {"judge_agreement_real", m.judge_real},
               {"judge_agreement_prior", m.judge_prior},
               {"transfer_score", m.transfer_score},
               {"frechet", m.frechet},
               {"frechet_prior", m.frechet_prior},
               {"frechet_real", m.frechet_real},
               {"consistency_before_saving", m.consistency_before},
               {"consistency_after_saving", m.consistency_after},
               {"seconds_per_image", m.seconds_per_image}};
  for (std::size_t a = 0; a < m.by_g.per_output.size(); ++a) {
    json["per_output"].push_back({{"name", a < names.size() ? names[a] : std::to_string(a)},
                                  {"agreement", m.by_g.per_output[a]},
                                  {"abs_dp", m.by_g.abs_dp_per_output[a]},
                                  {"judge_agreement", m.by_judge.per_output[a]},
                                  {"judge_abs_dp", m.by_judge.abs_dp_per_output[a]}});
  }
  return json;
}

}  // namespace spnn
