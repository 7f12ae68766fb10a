#include <fmt/format.h>

#include <memory>

#include <spnn/engine/paper_profile.h>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

struct EditArguments {
  engine::EditRequest wish{.files = {.folder = "edited"}};
  engine::ModelChoice models;
  std::string device = "cpu";
  std::vector<std::string> photos;
  AttributeWords words;
  std::unique_ptr<Profile> profile;
};

}  // namespace

void add_edit(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("edit", "make faces with chosen attributes, from noise or from a photo");
  auto a = std::make_shared<EditArguments>();
  command->add_option("PHOTOS", a->photos, "photos to start from (default: noise)")->check(CLI::ExistingFile);
  add_attributes(*command, a->words);
  add_distance(*command, a->wish.strength, a->wish.margin);
  command->add_flag("--invent", a->wish.invent, "with --size: detail from the second stage instead of the photo's own, moved along");
  command->add_flag("--fast", a->wish.fast, "move the photo by one back-projection, without diffusion: milliseconds");
  command->add_option("--amount", a->wish.amount, "of photos: so many times what photos with the attribute have")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--keep", a->wish.keep, fmt::format("0 … 1: how much of the photo stays (default: {})", engine::photo_keep))->check(CLI::Range(0.0, 1.0));
  add_making(*command, a->wish, a->models, a->device, "images for each photo, or in all", engine::edit_window);
  a->profile = std::make_unique<Profile>(*command);
  command->add_flag("--each-step", a->wish.each_step, "read targets from g of every step's image, as the paper has it, instead of once")->group("Attributes");
  command->add_flag("--redraw", a->wish.redraw, "noise a photo up to the window and draw it again, instead of moving it first");
  command->footer("A photo is moved by the mean of back-projections of shifted and mirrored views of it, as far as the prior believes in that: the attributes asked\n"
                  "for become what photos with them have. The place where they live is then drawn again, from more noise the stronger the move (or --window-from),\n"
                  "and the rest stays. With --keep 1 nothing is drawn. --fast takes one back-projection: exact and reversible, with some grain. NAME=0.7 is a probability.\n"
                  "--profile paper draws it again, below t = 500 or, for several attributes, 800.\n\nExamples:\n"
                  "  spnn edit --set Smiling --set Eyeglasses -n 8 -o out\n"
                  "  spnn edit me.jpg --set Smiling --unset Eyeglasses -o out");
  command->callback([a] {
    a->profile->take_over("--strategy", a->words.strategy, engine::paper::strategy);
    a->wish.attributes = a->words.requests();
    a->profile->take_over(a->wish.sampling, a->wish.guidance, a->wish.attributes.size());
    a->profile->take_over("--strength", a->wish.strength, engine::paper::strength);
    a->profile->take_over("--margin", a->wish.margin, engine::paper::margin);
    a->profile->take_over("--each-step", a->wish.each_step, engine::paper::each_step);
    if (!a->wish.photos.empty() || !a->photos.empty()) a->profile->take_over("--redraw", a->wish.redraw, engine::paper::redraw);
    a->wish.photos = photo_files(a->photos);
    a->wish.files.command = command_line();
    only_helping(a->wish.sampling, {&a->wish.files.folder, &a->wish.files.report});
    if (a->wish.attributes.empty()) throw CLI::RequiredError("--set or --unset");
    const auto report = session(a->models, a->device)->edit(a->wish, terminal());
    for (const auto& image : report.images) {
      fmt::print("{}  {}  |Δp| {:.4f}  seed {}\n", image.file, image.agreement == 1 ? "as asked" : "NOT as asked",
                 image.mean_abs_dp, image.seed);
    }
    fmt::print("{} images, {:.1f} % of the attributes as asked on the saved files, {:.2f} s per image\n", report.images.size(),
               100 * report.agreement, report.timings.per_image);
    if (!report.page.empty()) fmt::print("report: {}\n", report.page);
  });
}

}  // namespace spnn::cli
