#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

struct ReconstructArguments {
  engine::ReconstructRequest wish{.files = {.folder = "reconstructed"}};
  engine::ModelChoice models;
  std::string device = "cpu";
  std::vector<std::string> images;
  AttributeWords words;
  std::unique_ptr<Profile> profile;
};

void print(const engine::MadeImages& report) {
  for (const auto& image : report.images) {
    fmt::print("{}  agreement {:.1f} %  |Δp| {:.4f}  seed {}\n", image.file, 100 * image.agreement, image.mean_abs_dp, image.seed);
  }
  fmt::print("{} images, agreement {:.2f} % and mean |Δp| {:.4f} on the saved files, {:.2f} s per image\n", report.images.size(),
             100 * report.agreement, report.mean_abs_dp, report.timings.per_image);
  if (!report.page.empty()) fmt::print("report: {}\n", report.page);
}

}  // namespace

void add_reconstruct(CLI::App& spnn) {
  auto* command = spnn.add_subcommand(
      "reconstruct", "make images that a network says the same of: from images, from attributes, or from a file of outputs");
  auto a = std::make_shared<ReconstructArguments>();
  auto* images = command->add_option("IMAGES", a->images, "images whose outputs are the targets; outputs are named after them")
                     ->check(CLI::ExistingFile);
  command->add_option("--logits", a->wish.logits_file, "a CSV file: one target per row, one number per output")
      ->check(CLI::ExistingFile)->excludes(images);
  add_attributes(*command, a->words);
  add_distance(*command, a->wish.strength, a->wish.margin);
  add_making(*command, a->wish, a->models, a->device, "images for each target", engine::reconstruct_window);
  a->profile = std::make_unique<Profile>(*command);
  command->footer("Examples:\n  spnn reconstruct face.png -n 4 -o out\n"
                  "  spnn reconstruct --set Smiling --set Male=0 -n 8 -o out");
  command->callback([a] {
    a->wish.attributes = a->words.requests();
    a->wish.images = photo_files(a->images);
    a->profile->take_over(a->wish.sampling, a->wish.guidance);
    a->wish.files.command = command_line();
    only_helping(a->wish.sampling, {&a->wish.files.folder, &a->wish.files.report});
    print(session(a->models, a->device)->reconstruct(a->wish, terminal()));
  });
}

}  // namespace spnn::cli
