#include <spnn/checkpoint/module_state.h>
#include <spnn/core/errors.h>
#include <spnn/core/shape.h>

#include <fmt/ranges.h>

#include <ATen/core/grad_mode.h>

namespace spnn {
namespace {

constexpr std::size_t listed = 8;

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

std::map<std::string, Tensor> state_of(const torch::nn::Module& module) {
  std::map<std::string, Tensor> state;
  for (const auto& entry : module.named_parameters()) state[entry.key()] = entry.value().detach();
  for (const auto& entry : module.named_buffers()) state[entry.key()] = entry.value().detach();
  return state;
}

std::string mismatch(const std::map<std::string, std::vector<std::int64_t>>& wanted,
                     const std::map<std::string, Tensor>& found) {
  std::vector<std::string> missing, unexpected, wrong;
  for (const auto& [name, shape] : wanted) {
    const auto tensor = found.find(name);
    if (tensor == found.end()) {
      missing.push_back(fmt::format("{} {}", name, to_string(shape)));
    } else if (tensor->second.sizes() != torch::IntArrayRef(shape)) {
      wrong.push_back(
          fmt::format("{} {} instead of {}", name, to_string(tensor->second.sizes()), to_string(shape)));
    }
  }
  for (const auto& [name, tensor] : found)
    if (!wanted.contains(name)) unexpected.push_back(fmt::format("{} {}", name, to_string(tensor.sizes())));
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
  const at::NoGradGuard no_grad;
  for (auto& [name, tensor] : state) tensor.copy_(tensors.at(name));
}

}  // namespace spnn
