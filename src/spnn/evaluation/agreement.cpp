#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/evaluation/agreement.h>

#include <limits>

namespace spnn {
namespace {

void require_rows(const Tensor& y, const Tensor& target, Task task) {
  require(task != Task::black_box, "agreement", "outputs that are attributes or classes", "those of a black box");
  require(y.dim() == 2 && target.dim() == 2 && y.size(1) == target.size(1) && y.size(0) > 0 && target.size(0) > 0,
          "agreement", "two tables with the same columns",
          to_string(y.sizes()) + " and " + to_string(target.sizes()));
}

std::vector<double> list(const Tensor& values) {
  const auto v = values.to(torch::kFloat64).contiguous();
  return {v.data_ptr<double>(), v.data_ptr<double>() + v.numel()};
}

std::vector<double> recall(const Tensor& right, const Tensor& classes, std::int64_t outputs) {
  std::vector<double> out;
  for (std::int64_t a = 0; a < outputs; ++a) out.push_back(right.masked_select(classes == a).mean().item<double>());
  return out;
}

}  // namespace

Agreement agreement_of(Task task, const Tensor& y_any, const Tensor& target_any) {
  require_rows(y_any, target_any, task);
  require(y_any.size(0) == target_any.size(0), "agreement", fmt::format("{} rows", target_any.size(0)),
          std::to_string(y_any.size(0)));
  const auto y = y_any.to(torch::kFloat64), target = target_any.to(torch::kFloat64);
  if (task == Task::classes) {
    const auto wanted = target.argmax(1);
    const auto right = (y.argmax(1) == wanted).to(torch::kFloat64);
    const auto dp = (y.softmax(1) - target.softmax(1)).abs();
    return {right.mean().item<double>(), dp.mean().item<double>(), recall(right, wanted, y.size(1)), list(dp.mean(0))};
  }
  const auto right = ((y > 0) == (target > 0)).to(torch::kFloat64);
  const auto dp = (y.sigmoid() - target.sigmoid()).abs();
  return {right.mean().item<double>(), dp.mean().item<double>(), list(right.mean(0)), list(dp.mean(0))};
}

double chance_agreement(Task task, const Tensor& y, const Tensor& target) {
  require_rows(y, target, task);
  const auto share = [&](const Tensor& table) {
    const auto says = task == Task::classes ? torch::one_hot(table.argmax(1), table.size(1)) : (table > 0);
    return says.to(torch::kFloat64).mean(0);
  };
  const auto p = share(y), q = share(target);
  if (task == Task::classes) return (p * q).sum().item<double>();
  return (p * q + (1 - p) * (1 - q)).mean().item<double>();
}

double transfer_score(double result, double prior, double real) {
  if (real == prior) return std::numeric_limits<double>::quiet_NaN();
  return (result - prior) / (real - prior);
}

}  // namespace spnn
