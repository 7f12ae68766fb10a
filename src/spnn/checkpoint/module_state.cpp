#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/errors.h>
#include <spnn/core/shape.h>
#include <spnn/core/text.h>

#include <fmt/ranges.h>

#include <ATen/core/grad_mode.h>

#include <cstring>

namespace spnn {
namespace {

constexpr std::size_t listed = 8;

std::uint64_t numbers_in(const std::map<std::string, Tensor>& tensors) {
  std::uint64_t count = 0;
  for (const auto& [name, tensor] : tensors) count += static_cast<std::uint64_t>(tensor.numel());
  return count;
}

std::string list(const char* title, const std::vector<std::string>& entries) {
  if (entries.empty()) return {};
  const auto shown = std::min(entries.size(), listed);
  auto text =
      fmt::format("\n  {} ({}): {}", title, entries.size(),
                  fmt::join(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (entries.size() > shown) text += fmt::format(", and {} more", entries.size() - shown);
  return text;
}

}  // namespace

bool all_finite(const Tensor& tensor) {
  if (!tensor.is_floating_point() || tensor.numel() == 0) return true;
  if (tensor.scalar_type() != torch::kFloat32 || !tensor.is_contiguous() || !tensor.is_cpu())
    return torch::isfinite(tensor.detach()).all().item<bool>();
  // One pass without a second tensor, in a loop that the compiler vectorises: loading a model asks this of every weight.
  const auto* values = tensor.data_ptr<float>();
  std::uint32_t bad = 0;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, values + i, sizeof bits);
    bad |= static_cast<std::uint32_t>((bits & 0x7f800000U) == 0x7f800000U);
  }
  return bad == 0;
}

void require_finite(const Tensor& tensor, const std::string& where) {
  require(all_finite(tensor), where, "finite numbers", "NaN or infinity");
}

std::map<std::string, Tensor> state_of(const torch::nn::Module& module) {
  std::map<std::string, Tensor> state;
  for (const auto& entry : module.named_parameters()) state[entry.key()] = entry.value().detach();
  for (const auto& entry : module.named_buffers()) state[entry.key()] = entry.value().detach();
  return state;
}

TensorBudget::TensorBudget(const std::map<std::string, Tensor>& tensors, const std::string& where)
    : budget_(numbers_in(tensors), tensors.size(), where) {}

Tensor widened(const Tensor& narrow, const Tensor& initial) {
  bool fits = narrow.dim() == initial.dim() && narrow.dim() >= 1;
  for (std::int64_t d = 0; fits && d < narrow.dim(); ++d) {
    fits = d < 2 ? narrow.size(d) <= initial.size(d) : narrow.size(d) == initial.size(d);
  }
  require(fits, "a wider net", fmt::format("at least the channels of {}", to_string(narrow.sizes())), to_string(initial.sizes()));
  auto wide = initial.detach().clone();
  auto old_outputs = wide.narrow(0, 0, narrow.size(0));
  if (narrow.dim() == 1) {
    old_outputs.copy_(narrow);
  } else {
    old_outputs.zero_();
    old_outputs.narrow(1, 0, narrow.size(1)).copy_(narrow);
  }
  return wide;
}

std::string mismatch(const std::map<std::string, std::vector<std::int64_t>>& wanted,
                     const std::map<std::string, Tensor>& found) {
  std::vector<std::string> missing, unexpected, wrong;
  for (const auto& [name, shape] : wanted) {
    const auto tensor = found.find(name);
    if (tensor == found.end()) {
      missing.push_back(fmt::format("{} {}", shortened(name), to_string(shape)));
    } else if (tensor->second.sizes() != torch::IntArrayRef(shape)) {
      wrong.push_back(
          fmt::format("{} {} instead of {}", shortened(name), to_string(tensor->second.sizes()), to_string(shape)));
    }
  }
  for (const auto& [name, tensor] : found)
    if (!wanted.contains(name)) unexpected.push_back(fmt::format("{} {}", shortened(name), to_string(tensor.sizes())));
  return list("missing", missing) + list("unexpected", unexpected) + list("wrong shape", wrong);
}

void load_into(torch::nn::Module& module, const std::map<std::string, Tensor>& tensors,
               const std::string& where) {
  auto state = state_of(module);
  std::map<std::string, std::vector<std::int64_t>> wanted;
  for (const auto& [name, tensor] : state) wanted[name] = tensor.sizes().vec();
  const auto difference = mismatch(wanted, tensors);
  require(difference.empty(), where, fmt::format("the {} tensors of this architecture", wanted.size()),
          fmt::format("{}:{}", tensors.size(), difference));
  for (const auto& [name, tensor] : tensors) require_finite(tensor, fmt::format("{}: tensor {}", where, in_quotes(name)));
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : state) tensor.copy_(tensors.at(name));
}

}  // namespace spnn
