#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/network_input.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

namespace spnn::engine {
namespace {

std::vector<double> probabilities(Task task, const Tensor& y) {
  if (task == Task::black_box) return {};
  return numbers_in(task == Task::classes ? y.flatten(1).softmax(1) : y.sigmoid());
}

double quantile_of(const Tensor& sorted, double q) {
  const auto last = sorted.numel() - 1;
  return sorted[static_cast<std::int64_t>(q * static_cast<double>(last) + 0.5)].item<double>();
}

// The median of the exemplars on one side of 0; where there are none, the mean moved by two deviations to that side.
double typical(const Tensor& values, const AttributeRange& range, bool present) {
  const auto side = values.masked_select(present ? values > 0 : values <= 0);
  return side.numel() > 0 ? side.median().item<double>() : range.mean + (present ? 2 : -2) * range.deviation;
}

}  // namespace

ValuesResult TorchSession::values(const ValuesRequest& wish) const {
  const torch::NoGradGuard no_grad;
  const auto& model = loaded_.classifier();
  const auto task = task_from(model.outputs.task);
  const auto bytes = open_photo(wish.photo, model.net->in_shape(), /*fit=*/true);
  const auto x = to_unit(bytes).unsqueeze(0).to(model.net->options());
  const auto y = model.net->forward(x);
  ValuesResult result{.photo = to_image(bytes), .outputs = numbers_in(y), .probabilities = probabilities(task, y)};
  if (wish.judge) {
    const auto judged = loaded_.judge().net->forward(to_unit(bytes).unsqueeze(0).to(loaded_.device()));
    result.judge = numbers_in(judged);
    result.judge_probabilities = probabilities(task, judged);
  }
  return result;
}

std::vector<AttributeRange> TorchSession::attributes() const {
  const torch::NoGradGuard no_grad;
  const auto& model = loaded_.classifier();
  const auto statistics = statistics_of(model);
  const auto names = output_names(model);
  std::vector<AttributeRange> ranges;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto a = static_cast<std::int64_t>(i);
    AttributeRange range{.name = names[i], .mean = statistics.mean[a].item<double>(),
                         .deviation = statistics.covariance[a][a].sqrt().item<double>()};
    const auto known = statistics.exemplars.defined() && statistics.exemplars.size(0) > 0;
    const auto values = known ? std::get<0>(statistics.exemplars.select(1, a).to(torch::kFloat64).sort()) : torch::empty({0}, torch::kFloat64);
    range.low = known ? quantile_of(values, 0.01) : range.mean - 3 * range.deviation;
    range.high = known ? quantile_of(values, 0.99) : range.mean + 3 * range.deviation;
    range.without = typical(values, range, false);
    range.with = typical(values, range, true);
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace spnn::engine
