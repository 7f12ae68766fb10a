#include <spnn/jobs/engine_impl.h>
#include <spnn/checkpoint/dtype.h>
#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/checkpoint/layout.h>
#include <spnn/core/errors.h>

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

}  // namespace

std::string TorchEngine::inspect(const InspectJob& job) {
  const auto report = described(read_checkpoint(job.file), job.file);
  // A name in a file need not be UTF-8.
  const auto text = report.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  if (!job.json.empty()) write_text_atomically(job.json, text);
  return text;
}

std::string TorchEngine::convert(const ConvertJob& job) {
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
  write_safetensors(job.out, out, {.half = job.half});
  return layout.text;
}

}  // namespace spnn::engine
