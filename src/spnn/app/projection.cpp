#include <spnn/app/engine_impl.h>
#include <spnn/app/network_choice.h>
#include <spnn/app/write_json.h>
#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/projection/spnn_projector.h>

namespace spnn::app {
namespace {

double largest(const Tensor& difference) { return difference.abs().max().item<double>(); }

// Writes x (a batch of one) as an 8-bit image and returns what the file holds.
Tensor save(const Tensor& x, const std::string& file) {
  const auto channels = x.size(1);
  require(x.dim() == 4 && (channels == 1 || channels == 3), file, "an input of 1 or 3 channels to write as an image",
          to_string(x.sizes()));
  write_image(file, to_bytes(x[0].to(torch::kCPU, torch::kFloat32)));
  return to_unit(read_image(file)).unsqueeze(0).to(x.options());
}

std::vector<double> values(const Tensor& y) {
  const auto flat = y.to(torch::kCPU, torch::kFloat64).flatten().contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

ProjectReport report_of(const SpnnModel& model, const Tensor& before, const Tensor& target, const Tensor& after,
                        const Tensor& saved) {
  ProjectReport report;
  const auto names = output_names(model);
  const auto b = values(before), t = values(target), a = values(after), s = values(saved);
  for (std::size_t i = 0; i < names.size(); ++i) report.outputs.push_back({names[i], b[i], t[i], a[i], s[i]});
  return report;
}

Json as_json(const ProjectReport& report) {
  Json json{{"consistency", report.consistency}, {"consistency_saved", report.consistency_saved},
            {"moved", report.moved}, {"outputs", Json::array()}};
  for (const auto& o : report.outputs) {
    json["outputs"].push_back({{"name", o.name}, {"before", o.before}, {"target", o.target}, {"after", o.after},
                               {"saved", o.saved}});
  }
  return json;
}

SpnnProjector projector(const SpnnModel& model, const std::string& pseudo_inverse, const std::string& metric,
                        std::uint64_t seed) {
  return SpnnProjector(model.net, {.pseudo_inverse = pseudo_inverse_from(pseudo_inverse), .metric = metric_from(metric),
                                   .random_seed = seed});
}

}  // namespace

ProjectReport pinv(const PinvJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto model = open_network(job.network);
  observer.message("inverting " + describe_network(*model.net));
  const auto g = projector(model, job.pseudo_inverse, "residual", job.seed);
  const auto y = open_target(job.target, model, {});
  const auto x = g.pinv(y);
  const auto after = g.forward(x), saved = g.forward(save(x, job.output));
  auto report = report_of(model, torch::zeros_like(y), y, after, saved);
  report.consistency = largest(after - y);
  report.consistency_saved = largest(saved - y);
  report.moved = x.square().mean().sqrt().item<double>();
  write_json(job.json, as_json(report));
  return report;
}

ProjectReport project(const ProjectJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto model = open_network(job.network);
  observer.message("projecting with " + describe_network(*model.net));
  const auto g = projector(model, job.pseudo_inverse, job.metric, job.seed);
  const auto x = open_image(job.image, *model.net);
  const auto probe = g.probe(x);
  const auto y = open_target(job.target, model, probe.y);
  const auto lambda = torch::scalar_tensor(job.lambda, x.options());
  const auto x_new = job.naive ? g.naive(probe, y, lambda) : g.nlbp(probe, y, lambda);
  const Tensor wanted = (1 - job.lambda) * probe.y + job.lambda * y;
  const auto after = g.forward(x_new), saved = g.forward(save(x_new, job.output));
  auto report = report_of(model, probe.y, wanted, after, saved);
  report.consistency = largest(after - wanted);
  report.consistency_saved = largest(saved - wanted);
  report.moved = (x_new - x).square().mean().sqrt().item<double>();
  write_json(job.json, as_json(report));
  return report;
}

}  // namespace spnn::app
