#include <spnn/engine/engine.h>
#include <spnn/jobs/loaded_models.h>
#include <spnn/jobs/write_json.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/errors.h>
#include <spnn/data/identities.h>
#include <spnn/training/identity.h>
#include <spnn/data/task.h>

namespace spnn::engine {

IdentityFigures Engine::evaluate_identity(const EvaluateIdentityJob& job, Observer& observer) {
  const auto device = device_from(job.device);
  const auto net = load_identity(job.model);
  net->to(device);
  const auto images = load_dataset(job.data, {.split = split_from(job.split), .size = net->in_shape().height, .channels = net->in_shape().channels});
  require(images.size() > 0, job.data, fmt::format("images in the split '{}'", job.split), "none", "see 'spnn data info' for the splits of a set");
  const auto set = with_people(images, read_identities(job.identities));
  observer.message(fmt::format("{}: {} images of the split '{}', {}", set.name, set.size(), job.split, set.split_rule));
  const auto f = compare_pairs(outputs_over(set, [&](const Tensor& x) { return net->embed(x.to(device)).to(torch::kCPU); }), set.labels);
  const IdentityFigures out{.images = set.size(), .people = std::ssize(set.attributes), .same_pairs = f.same_pairs,
                            .different_pairs = f.different_pairs, .auc = f.auc, .same = f.same, .different = f.different};
  write_json(job.json, {{"images", out.images}, {"people", out.people}, {"split", job.split}, {"auc", f.auc}, {"same", f.same},
                        {"different", f.different}, {"same_pairs", f.same_pairs}, {"different_pairs", f.different_pairs}});
  return out;
}

}  // namespace spnn::engine
