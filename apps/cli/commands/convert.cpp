#include <fmt/format.h>

#include <memory>

#include "commands.h"

namespace spnn::cli {

void add_convert(CLI::App& spnn) {
  auto* convert = spnn.add_subcommand("convert", "rewrite a model file of PyTorch as safetensors with its architecture");
  auto job = std::make_shared<app::ConvertJob>();
  convert->add_option("IN", job->in, "safetensors, or PyTorch's zip or legacy format")
      ->required()->check(CLI::ExistingFile);
  convert->add_option("OUT", job->out, "the safetensors file to write")->required();
  convert->add_flag("--half", job->half, "store floating-point tensors in half precision");
  convert->callback([job] { fmt::print("{}: {}\n", job->out, engine().convert(*job)); });
}

}  // namespace spnn::cli
