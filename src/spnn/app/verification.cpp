#include <spnn/app/engine_impl.h>
#include <spnn/app/network_choice.h>
#include <spnn/app/write_json.h>
#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/projection/verify.h>

#include <algorithm>
#include <filesystem>

namespace spnn::app {
namespace {

std::vector<std::string> image_files(const std::string& place, std::int64_t count) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(place)) return {place};
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(place)) {
    if (entry.is_regular_file() && has_image_extension(entry.path())) files.push_back(entry.path().string());
  }
  require(!files.empty(), place, "a folder with images", "none");
  std::sort(files.begin(), files.end());
  files.resize(std::min(files.size(), static_cast<std::size_t>(count)));
  return files;
}

Tensor inputs(const VerifyJob& job, const Spnn& net) {
  if (job.images.empty()) return Rng(job.seed).uniform(net.in_shape().batched(job.count), net.options()) * 2 - 1;
  std::vector<Tensor> images;
  for (const auto& file : image_files(job.images, job.count)) images.push_back(open_image(file, net));
  return torch::cat(images);
}

// Other inputs' outputs, shaken by their own spread: targets that the network could meet, and a little beyond.
Tensor targets(const Tensor& g_x, std::uint64_t seed) {
  const auto spread = g_x.numel() > 1 ? g_x.std().item<double>() : 1.0;
  return g_x.roll(1, 0) + spread * Rng(seed).fork(1).randn(g_x.sizes(), g_x.options());
}

Json as_json(const VerifyReport& report) {
  Json json{{"network", report.network}, {"passed", report.passed}};
  for (const auto& row : report.residuals) {
    json["residuals"][row.name] = row.absolute;
    json["relative"][row.name] = row.relative;
    json["tolerances"][row.name] = row.tolerance;
  }
  json["plain_drift_of_learned_r"] = report.plain_drift_of_learned_r;
  return json;
}

}  // namespace

VerifyReport verify(const VerifyJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto model = open_network(job.network);
  observer.message("verifying " + describe_network(*model.net));
  const auto x = inputs(job, *model.net);
  const auto y = targets(model.net->forward(x), job.seed);
  const auto verification = verify_network(model.net, x, y, {.tolerance = job.tolerance});
  VerifyReport report;
  report.network = describe_network(*model.net);
  report.passed = verification.passed();
  report.plain_drift_of_learned_r = verification.plain_drift_of_learned_r;
  for (const auto& r : verification.residuals) {
    report.residuals.push_back({r.name, r.absolute, r.relative, r.tolerance, r.passed()});
  }
  write_json(job.json, as_json(report));
  return report;
}

}  // namespace spnn::app
