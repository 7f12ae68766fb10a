#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {

void add_project(CLI::App& spnn) {
  auto* command = spnn.add_subcommand(
      "project", "back-project an image onto a target: the nearest image with the wanted outputs, in the chosen metric");
  struct Arguments {
    NetworkArguments network;
    engine::ProjectRequest wish;
    std::string output;
    bool naive = false;
  };
  auto a = std::make_shared<Arguments>();
  add_network(*command, a->network);
  command->add_option("IMAGE", a->wish.photo.file, "image to start from; cropped and resized as the network wants it")
      ->required()
      ->check(CLI::ExistingFile);
  add_target(*command, a->network, a->wish.target, "the image's own outputs or the other target");
  command->add_option("--lambda", a->wish.lambda, "how far to go: 1 meets the target, 0.5 goes half way")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--metric", a->wish.metric, "which completion to move in")->check(CLI::IsMember(metrics()))->capture_default_str();
  add_pseudo_inverse(*command, a->wish.pseudo_inverse, a->wish.seed);
  command->add_flag("--naive", a->naive, "x + λ(g†(y) − g†(g(x))), for comparison: --metric naive");
  command->add_option("-o,--output", a->output, "image to write (.png, .jpg, .webp)")->required();
  command->callback([a] {
    if (!a->network.onto.empty()) a->wish.target.image = engine::Photo{.file = a->network.onto};
    if (a->naive) a->wish.metric = "naive";
    const auto& target = a->wish.target;
    if (!target.image && target.values_file.empty() && target.set.empty()) {
      throw CLI::ValidationError("project", "expected a target (--onto, --values or --set), got none");
    }
    const auto session = a->network.open();
    const auto info = session->info();
    terminal().message("projecting with " + info.network);
    finish(session->project(a->wish), info.names, a->output, a->network.json);
  });
}

}  // namespace spnn::cli
