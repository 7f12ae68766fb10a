#include <spnn/engine/engine.h>
#include <spnn/checkpoint/dtype.h>
#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/checkpoint/layout.h>
#include <spnn/checkpoint/load_prior.h>
#include <spnn/checkpoint/models.h>
#include <spnn/core/errors.h>
#include <spnn/core/config.h>
#include <spnn/data/subsets.h>
#include <spnn/data/task.h>
#include <spnn/training/statistics.h>

#include <set>
#include <sstream>

namespace spnn::engine {
namespace {

// JSON inside a metadata string is shown as such.
Json readable(const std::string& text) {
  auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_structured() ? json : Json(text);
}

Json described(const Checkpoint& checkpoint, const std::string& where) {
  const auto layout = describe(checkpoint, where);
  Json report = {{"container", checkpoint.container},
                 {"kind", layout.kind},
                 {"description", layout.text},
                 {"architecture", layout.architecture},
                 {"parameters", checkpoint.parameter_count()},
                 {"metadata", Json::object()},
                 {"tensors", Json::array()}};
  if (!checkpoint.taken.empty()) report["taken"] = checkpoint.taken;
  for (const auto& [key, value] : checkpoint.metadata)
    if (key != "architecture") report["metadata"][key] = readable(value);
  for (const auto& [name, tensor] : checkpoint.tensors)
    report["tensors"].push_back(
        {{"name", name}, {"dtype", dtype_name(tensor.scalar_type())}, {"shape", tensor.sizes().vec()}});
  return report;
}

void set_windows(std::map<std::string, std::string>& metadata, const ConvertJob& job, const std::string& kind) {
  if (job.reconstruct_window == 0 && job.edit_window == 0) return;
  require(kind == "spnn", job.in, "a model of kind 'spnn', whose guidance has a window", "one of kind '" + kind + "'");
  auto windows = guidance_windows_in(metadata, job.in);
  if (job.reconstruct_window != 0) windows.reconstruct = job.reconstruct_window;
  if (job.edit_window != 0) windows.edit = job.edit_window;
  metadata["guidance"] = to_json(guidance_windows_from(to_json(windows), "convert")).dump();   // read again: numbers are checked there
}

void set_names(std::map<std::string, std::string>& metadata, const ConvertJob& job, const std::string& kind) {
  if (job.attributes.empty() && job.statistics.empty()) return;
  require(kind == "spnn", job.in, "a model of kind 'spnn', whose outputs have names and statistics", "one of kind '" + kind + "'");
  if (job.attributes.empty()) return;
  std::vector<std::string> names;
  std::istringstream lines(read_text(job.attributes));
  for (std::string name; lines >> name;) names.push_back(name);
  const std::set<std::string> different(names.begin(), names.end());
  require(!names.empty() && different.size() == names.size(), job.attributes, "different names, one a line", fmt::format("{} names, {} different", names.size(), different.size()));
  metadata["attributes"] = Json(names).dump();
  metadata["task"] = "attributes";
}

void set_weak_prior(TensorFile& out, const ConvertJob& job, const std::string& kind) {
  if (job.weak.empty()) return;
  require(kind == "ddpm-unet", job.in, "a prior, which can be led away from a weak one", "a model of kind '" + kind + "'");
  const Autoguidance lead{.weight = job.lead, .from = job.lead_from, .to = job.lead_to};
  add_weak_prior(out, job.weak, autoguidance_from(to_json(lead), "convert"));   // read again: numbers are checked there
}

// Of the file as it was written: what is measured is what will be used.
void add_statistics(const ConvertJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto model = load_spnn(job.out);
  const auto shape = model.net->in_shape();
  auto train = load_dataset(job.statistics, {.split = Split::train, .size = shape.height, .channels = shape.channels});
  const auto outputs = model.net->out_shape().size();
  auto& names = model.outputs.names;
  require(!names.empty() || std::ssize(train.attributes) == outputs, job.statistics, fmt::format("a data set with names for the {} outputs", outputs),
          fmt::format("{} names", train.attributes.size()), "--attributes names them");
  require(names.empty() || std::ssize(names) == outputs, job.attributes, fmt::format("{} names, as the network has outputs", outputs), std::to_string(names.size()));
  if (job.images > 0 && job.images < train.size()) train = rows_of(shuffled(train, 0), torch::arange(job.images, torch::kInt64));
  std::int64_t done = 0;
  const auto y = outputs_over(train, [&](const Tensor& x) {
    if (observer.cancelled()) throw Interrupted("interrupted; the file has no statistics yet");
    observer.progress(done += x.size(0), train.size(), "images");
    return model.net->forward(x);
  });
  auto file = read_safetensors(job.out);
  if (names.empty()) {
    file.metadata["attributes"] = Json(train.attributes).dump();
    file.metadata["task"] = std::string(to_string(task_of(train)));
  }
  for (auto& [name, tensor] : output_statistics(y, train)) file.tensors[name] = tensor;
  write_safetensors(job.out, file, {.half = job.half});
}

}  // namespace

std::string Engine::inspect(const InspectJob& job) {
  const auto report = described(read_checkpoint(job.file), job.file);
  // A name in a file need not be UTF-8.
  const auto text = report.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  if (!job.json.empty()) write_text_atomically(job.json, text);
  return text;
}

std::string Engine::convert(const ConvertJob& job, Observer& observer) {
  auto checkpoint = read_checkpoint(job.in);
  const auto layout = describe(checkpoint, job.in);
  TensorFile out{{}, checkpoint.metadata};
  if (!layout.architecture.is_null() && !out.metadata.contains("kind")) {
    out.metadata["kind"] = layout.kind;
    out.metadata["architecture"] = layout.architecture.dump();
    out.metadata["source"] = Json{{"container", checkpoint.container}, {"taken", checkpoint.taken}}.dump();
    out.tensors = as_model(std::move(checkpoint), job.in).tensors;
  } else {
    out.tensors = std::move(checkpoint.tensors);
  }
  set_windows(out.metadata, job, layout.kind);
  set_names(out.metadata, job, layout.kind);
  set_weak_prior(out, job, layout.kind);
  write_safetensors(job.out, out, {.half = job.half});
  if (!job.statistics.empty()) add_statistics(job, observer);
  return layout.text;
}

}  // namespace spnn::engine
