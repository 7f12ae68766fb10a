#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/training/places.h>
#include <spnn/training/statistics.h>

namespace spnn {
namespace {

constexpr std::int64_t kExemplars = 4096;   // 640 KB of 40 outputs: enough that attributes of a few per cent have exemplars

}  // namespace

std::map<std::string, Tensor> output_statistics(const Tensor& outputs) {
  require(outputs.dim() == 2 && outputs.size(0) >= 2, "output statistics", "outputs of two or more images",
          to_string(outputs.sizes()));
  const auto y = outputs.to(torch::kFloat64);
  const auto mean = y.mean(0);
  const auto centred = y - mean;
  const auto covariance = centred.t().mm(centred) / static_cast<double>(y.size(0) - 1);
  const auto kept = std::min(y.size(0), kExemplars);
  const auto rows = (torch::arange(kept, torch::kInt64) * y.size(0)).floor_divide(kept);
  return {{"statistics.mean", mean.to(torch::kFloat32)}, {"statistics.covariance", covariance.to(torch::kFloat32)},
          {"statistics.exemplars", outputs.index_select(0, rows).to(torch::kFloat32)}};
}

std::map<std::string, Tensor> output_statistics(const Tensor& outputs, const Dataset& train) {
  auto statistics = output_statistics(outputs);
  const bool attributes = train.multi_label && train.labels.defined() && train.labels.dim() == 2;
  if (attributes && train.labels.size(1) == outputs.size(1)) statistics.emplace("statistics.places", attribute_places(train));
  return statistics;
}

void add_to_model(const std::filesystem::path& file, std::map<std::string, Tensor> tensors) {
  auto content = read_safetensors(file);
  tensors.merge(content.tensors);   // keeps the new ones
  content.tensors = std::move(tensors);
  write_safetensors(file, content);
}

}  // namespace spnn
