#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/checkpoint.h>
#include <spnn/checkpoint/torch_file.h>
#include <spnn/checkpoint/zip.h>
#include <spnn/core/io.h>
#include <spnn/core/text.h>

#include <algorithm>

namespace spnn {
namespace {

using Kind = PickleValue::Kind;

// What trainers call the weights when they save more than those, the better ones first.
constexpr std::string_view wrappers[] = {"ema_state_dict", "ema", "state_dict", "model_state_dict", "model"};
constexpr std::size_t ddim_ema = 4;  // [model, optimiser, epoch, step, EMA]

// The first entry that is no tensor under a name; null for a state dict.
const PickleValue* first_stranger(const PickleValue& dict) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (!dict.items[i]->is(Kind::text)) return dict.items[i];
    if (!is_tensor(*dict.items[i + 1])) return dict.items[i + 1];
  }
  return nullptr;
}

bool is_state(const PickleValue& value) {
  return value.is(Kind::dict) && !value.items.empty() && !first_stranger(value);
}

struct State {
  const PickleValue* dict;
  std::string taken;
};

State find_state(const PickleValue& root, const std::string& where) {
  if (is_state(root)) return {&root, ""};
  if (root.is_sequence() && root.items.size() > ddim_ema && is_state(*root.items[ddim_ema]))
    return {root.items[ddim_ema], "the EMA weights of a DDIM training state"};
  if (root.is_sequence() && !root.items.empty() && is_state(*root.items[0]))
    return {root.items[0], fmt::format("the first of a list of {}", root.items.size())};
  for (const auto name : wrappers)
    if (const auto* inside = root.find(name); inside && is_state(*inside))
      return {inside, fmt::format("'{}'", name)};
  auto got = root.describe();
  if (const auto* stranger = root.is(Kind::dict) ? first_stranger(root) : nullptr)
    got += " with " + stranger->describe();
  fail(where, "a dictionary of tensors", got);
}

// Names without `module.`, if all have it.
std::map<std::string, Tensor> without_prefix(std::map<std::string, Tensor> tensors) {
  constexpr std::string_view prefix = "module.";
  const auto has_it = [&](const auto& entry) { return entry.first.starts_with(prefix); };
  if (!std::all_of(tensors.begin(), tensors.end(), has_it)) return tensors;
  std::map<std::string, Tensor> stripped;
  for (auto& [name, tensor] : tensors) stripped[name.substr(prefix.size())] = std::move(tensor);
  return stripped;
}

Checkpoint from_torch(TorchFile file, std::string container, const std::string& where) {
  const auto [dict, taken] = find_state(file.pickle->root(), where);
  Checkpoint checkpoint{std::move(container), taken, {}, {}};
  for (std::size_t i = 0; i + 1 < dict->items.size(); i += 2) {
    const auto& name = dict->items[i]->text;
    checkpoint.tensors[name] =
        file.tensors.read(*dict->items[i + 1], fmt::format("{}: tensor {}", where, in_quotes(name)));
  }
  checkpoint.tensors = without_prefix(std::move(checkpoint.tensors));
  return checkpoint;
}

[[noreturn]] void refuse_container(Bytes bytes, const std::string& where) {
  const auto start = ByteReader(bytes, where).text(std::min<std::size_t>(bytes.size(), 64));
  std::string got = bytes.empty() ? "an empty file" : "a file of another kind";
  std::string hint;
  if (start.starts_with("version https://git-lfs")) {
    got = "a Git LFS pointer";
    hint = "fetch the file itself with git lfs pull";
  } else if (start.starts_with("<")) {
    got = "a web page";
    hint = "the download failed";
  }
  fail(where, "a model file (safetensors, or PyTorch's zip or legacy format)", got, hint);
}

}  // namespace

std::int64_t Checkpoint::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : tensors) count += tensor.numel();
  return count;
}

Checkpoint read_checkpoint(Bytes bytes, const std::string& where) {
  if (looks_like_zip(bytes)) return from_torch(open_torch_zip(bytes, where), "PyTorch zip", where);
  if (looks_like_torch_legacy(bytes))
    return from_torch(open_torch_legacy(bytes, where), "PyTorch legacy", where);
  if (!looks_like_safetensors(bytes)) refuse_container(bytes, where);
  auto content = read_safetensors(bytes, where);
  return {"safetensors", "", without_prefix(std::move(content.tensors)), std::move(content.metadata)};
}

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  return naming_the_file(file.string(), [&] {
    const FileContent content(file);
    return read_checkpoint(content.bytes(), file.string());
  });
}

}  // namespace spnn
