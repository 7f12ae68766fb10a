#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

struct Arguments {
  app::EditJob job;
  AttributeWords words;
};

}  // namespace

void add_edit(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("edit", "make faces with chosen attributes, from noise or from a photo");
  auto a = std::make_shared<Arguments>();
  command->add_option("PHOTOS", a->job.photos, "photos to start from (default: noise)")->check(CLI::ExistingFile);
  add_attributes(*command, a->words);
  add_distance(*command, a->job.strength, a->job.margin);
  command->add_flag("--fit", a->job.fit, "cut the middle square out of photos of another size and resize it");
  command->add_option("-o,--output", a->job.output, "a folder")->capture_default_str();
  command->add_option("-n,--samples", a->job.samples, "images for each photo, or in all")->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", a->job.seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command->add_option("--report", a->job.report, "add to DIR/report.html, with the tables as CSV beside it");
  add_models(*command, a->job.models);
  add_sampling(*command, a->job.sampling);
  add_guidance(*command, a->job.guidance, app::edit_window);
  command->footer("A photo is noised to the start of the window (--window-from) and guided from there: the larger, the less of it stays.\n"
                  "The paper walks every stretch twice (--travel-repeat 2) and takes t < 800 for several attributes; here other attributes\n"
                  "then drift more, for no gain.\n\nExamples:\n"
                  "  spnn edit --set Smiling --set Eyeglasses -n 8 -o out\n"
                  "  spnn edit me.jpg --fit --set Smiling --unset Eyeglasses -o out");
  command->callback([a] {
    a->job.attributes = a->words.requests();
    a->job.command = command_line();
    if (a->job.attributes.empty()) throw CLI::RequiredError("--set or --unset");
    const auto report = engine().edit(a->job, terminal());
    for (const auto& image : report.images) {
      fmt::print("{}  {}  |Δp| {:.4f}  seed {}\n", image.file, image.agreement == 1 ? "as asked" : "NOT as asked",
                 image.mean_abs_dp, image.seed);
    }
    fmt::print("{} images, {:.1f} % of the attributes as asked on the saved files, {:.2f} s an image\n", report.images.size(),
               100 * report.agreement, report.seconds_per_image);
    if (!report.page.empty()) fmt::print("report: {}\n", report.page);
  });
}

}  // namespace spnn::cli
