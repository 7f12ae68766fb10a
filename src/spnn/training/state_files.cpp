#include <spnn/checkpoint/safetensors.h>
#include <spnn/checkpoint/tensor_checks.h>
#include <spnn/core/errors.h>
#include <spnn/core/io.h>
#include <spnn/core/text.h>
#include <spnn/training/state_files.h>

#include <charconv>

namespace spnn {
namespace {

std::string entry_of(const TensorFile& content, const std::string& key, const std::string& where) {
  const auto found = content.metadata.find(key);
  require(found != content.metadata.end(), where, fmt::format("the metadata '{}'", key), "none", "the file is damaged");
  return found->second;
}

// Our own file, written whole: without a checksum it is not as we wrote it.
TrainingState read_state(const std::filesystem::path& file) {
  const auto where = file.string();
  auto content = read_safetensors(file);
  entry_of(content, "checksum", where);
  const auto kind = entry_of(content, "kind", where), step = entry_of(content, "step", where), best = entry_of(content, "best", where);
  require(kind == "training-state", where, "a training state", in_quotes(kind));
  TrainingState state;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), state.step);
  require(error == std::errc() && end == step.data() + step.size() && state.step >= 0, where, "a number of steps", in_quotes(step));
  state.best = std::strtod(best.c_str(), nullptr);
  state.tensors = std::move(content.tensors);
  return state;
}

}  // namespace

void require_finite_weights(const std::map<std::string, Tensor>& tensors, std::int64_t step) {
  for (const auto& [name, value] : tensors) {
    require(all_finite(value), fmt::format("training step {}", step), "finite weights", fmt::format("NaN or infinity in '{}'", name),
            "the last good checkpoint is kept; try a lower rate or stronger clipping");
  }
}

StateFiles::StateFiles(const RunDirectory& run)
    : newest_(run.file("state.safetensors")), previous_(run.file("state.previous.safetensors")) {}

bool StateFiles::exist() const { return std::filesystem::exists(newest_) || std::filesystem::exists(previous_); }

void StateFiles::save(const TrainingState& state) {
  require_finite_weights(state.tensors, state.step);
  const TensorFile content{state.tensors, {{"kind", "training-state"}, {"step", std::to_string(state.step)}, {"best", fmt::format("{:a}", state.best)}}};
  if (newest_is_whole_) keep_newest();
  write_safetensors(newest_, content);
  newest_is_whole_ = true;
}

void StateFiles::keep_newest() const {
  try {
    keep_as(newest_, previous_);
  } catch (const Error&) {   // a file system without second names: for a moment there is only the previous one
    std::filesystem::rename(newest_, previous_);
  }
}

StateFiles::Found StateFiles::load() {
  std::string why;
  try {
    Found found{read_state(newest_), ""};
    newest_is_whole_ = true;
    return found;
  } catch (const Error& error) {
    why = error.what();
  }
  newest_is_whole_ = false;
  if (!std::filesystem::exists(previous_)) fail(newest_.string(), "a training state", why, "and there is no earlier one");
  try {
    return {read_state(previous_), why};
  } catch (const Error& error) {
    fail(newest_.string(), "a training state in it or in the one before", fmt::format("{}; {}", why, error.what()));
  }
}

}  // namespace spnn
