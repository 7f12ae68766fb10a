#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {

void add_pinv(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("pinv", "the image g†(y) of outputs y");
  struct Arguments {
    NetworkArguments network;
    engine::PinvRequest wish;
    std::string output;
  };
  auto a = std::make_shared<Arguments>();
  add_network(*command, a->network);
  add_target(*command, a->network, a->wish.target, "zeros or the other target");
  add_pseudo_inverse(*command, a->wish.pseudo_inverse, a->wish.seed);
  command->add_option("-o,--output", a->output, "image to write (.png, .jpg, .webp)")->required();
  command->callback([a] {
    if (!a->network.onto.empty()) a->wish.target.image = engine::Photo{.file = a->network.onto};
    const auto session = a->network.open();
    const auto info = session->info();
    terminal().message("inverting " + info.network);
    finish(session->pinv(a->wish), info.names, a->output, a->network.json);
  });
}

}  // namespace spnn::cli
