#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

struct Arguments {
  app::ReconstructJob job;
  AttributeWords words;
};

void print(const app::RestorationReport& report) {
  for (const auto& image : report.images) {
    fmt::print("{}  agreement {:.1f} %  |Δp| {:.4f}  seed {}\n", image.file, 100 * image.agreement, image.mean_abs_dp, image.seed);
  }
  fmt::print("{} images, agreement {:.2f} % and mean |Δp| {:.4f} on the saved files, {:.2f} s an image\n", report.images.size(),
             100 * report.agreement, report.mean_abs_dp, report.seconds_per_image);
  if (!report.page.empty()) fmt::print("report: {}\n", report.page);
}

}  // namespace

void add_reconstruct(CLI::App& spnn) {
  auto* command = spnn.add_subcommand(
      "reconstruct", "make images that a network says the same of: from images, from attributes, or from a file of outputs");
  auto a = std::make_shared<Arguments>();
  auto* images = command->add_option("IMAGES", a->job.images, "images whose outputs are the targets; outputs are named after them")
                     ->check(CLI::ExistingFile);
  command->add_option("--logits", a->job.logits, "a CSV file: one target a row, one number an output")
      ->check(CLI::ExistingFile)->excludes(images);
  add_attributes(*command, a->words);
  add_distance(*command, a->job.strength, a->job.margin);
  command->add_flag("--fit", a->job.fit, "cut the middle square out of images of another size and resize it");
  command->add_option("-o,--output", a->job.output, "a folder")->capture_default_str();
  command->add_option("-n,--samples", a->job.samples, "images for each target")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--seed", a->job.seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command->add_option("--report", a->job.report, "add to DIR/report.html, with the tables as CSV beside it");
  add_models(*command, a->job.models);
  add_sampling(*command, a->job.sampling);
  add_guidance(*command, a->job.guidance, app::reconstruct_window);
  command->footer("Examples:\n  spnn reconstruct face.png -n 4 -o out\n"
                  "  spnn reconstruct --set Smiling --set Male=0 -n 8 -o out");
  command->callback([a] {
    a->job.attributes = a->words.requests();
    a->job.command = command_line();
    print(engine().reconstruct(a->job, terminal()));
  });
}

}  // namespace spnn::cli
