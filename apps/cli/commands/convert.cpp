#include <fmt/format.h>

#include <memory>

#include "commands.h"

namespace spnn::cli {

void add_convert(CLI::App& spnn) {
  auto* convert = spnn.add_subcommand("convert", "rewrite a model file of PyTorch as safetensors with its architecture, or what a file says of its model");
  auto job = std::make_shared<engine::ConvertJob>();
  convert->add_option("IN", job->in, "safetensors, or PyTorch's zip or legacy format")
      ->required()->check(CLI::ExistingFile);
  convert->add_option("OUT", job->out, "the safetensors file to write")->required();
  convert->add_flag("--half", job->half, "store floating-point tensors in half precision");
  convert->add_option("--attributes", job->attributes, "names for the outputs of an SPNN: a text file, one a line in their order")
      ->check(CLI::ExistingFile);
  convert->add_option("--statistics", job->statistics, "a data set: what an SPNN says of its training images goes into the file, for 'edit' to aim at; "
                                                       "without --attributes its names are taken too");
  convert->add_option("--images", job->images, "so many images of the statistics (default: all)")->check(CLI::PositiveNumber)->needs("--statistics");
  auto* weak = convert->add_option("--weak", job->weak, "a weak prior (small, hardly trained): the prior of IN is led away from it where it makes images")
                   ->check(CLI::ExistingFile);
  convert->add_option("--lead", job->lead, "how far")->check(CLI::Range(0.0, 10.0))->needs(weak)->capture_default_str();
  convert->add_option("--lead-from", job->lead_from, "… at times below this")->check(CLI::Range(0, 1000))->needs(weak)->capture_default_str();
  convert->add_option("--lead-to", job->lead_to, "… and not below this")->check(CLI::Range(0, 1000))->needs(weak)->capture_default_str();
  const auto window = [&](const char* name, std::int64_t& t, const char* of) {
    convert->add_option(name, t, fmt::format("say in the file of an SPNN that '{}' shall guide below this t", of))->check(CLI::Range(1, 1000));
  };
  window("--reconstruct-window", job->reconstruct_window, "reconstruct");
  window("--edit-window", job->edit_window, "edit");
  convert->footer("IN and OUT may be the same file. Examples:\n  spnn convert celeba_hq.ckpt prior.safetensors --half\n"
                  "  spnn convert spnn_celebahq_256.pth public.safetensors --half --statistics CelebAMask-HQ/   # 'edit' can use it now\n"
                  "  spnn convert model.safetensors model.safetensors --reconstruct-window 1000\n"
                  "  spnn convert prior.safetensors prior.safetensors --half --weak weak.safetensors --lead 1 --lead-to 100");
  convert->callback([job] { fmt::print("{}: {}\n", job->out, engine().convert(*job, terminal())); });
}

}  // namespace spnn::cli
