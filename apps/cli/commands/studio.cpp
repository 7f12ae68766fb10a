#include <spnn/engine/engine.h>
#include <spnn/version.h>
#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include <studio/server.h>
#include <studio/studio.h>

#include "command.h"
#include "restoration_options.h"

namespace spnn::cli {

void add_studio(CLI::App& spnn);

namespace {

struct StudioArguments {
  engine::SessionConfig session{.load_now = true};
  studio::ServerConfig server{.stop_on_signals = true};
  bool open = false;
};

// A file of the shipped models, if it is there: "jpeg20", "prior".
std::string shipped(const std::string& family, const std::string& role) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& folder : {here / "../../models", here / "../share/spnn/models"}) {
    const auto file = folder / (family + "-" + role + ".safetensors");
    if (std::filesystem::exists(file, ignored)) return std::filesystem::weakly_canonical(file, ignored).string();
  }
  return {};
}

void open_browser(const std::string& address) {
  const char* const words[] = {"xdg-open", address.c_str(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, words[0], nullptr, nullptr, const_cast<char* const*>(words), environ) != 0)
    fmt::print("studio --open: no program to open a page was found; open it by hand\n");
}

std::string model_options(const engine::ModelChoice& models) {
  std::string options;
  if (models.family != engine::ModelChoice{}.family) options += " --models " + models.family;
  if (!models.classifier.empty()) options += " --classifier " + models.classifier;
  if (!models.prior.empty()) options += " --prior " + models.prior;
  if (models.size > 0) options += fmt::format(" --size {}", models.size);
  return options;
}

void serve(StudioArguments& a) {
  fmt::print("loading the models …\n");
  std::fflush(stdout);
  const auto session = engine().open(a.session);
  studio::Models models;
  models.session = session.get();
  models.fit = [](const engine::Photo& photo, std::int64_t width, std::int64_t height) {
    return engine().fit(photo, width, height);
  };
  models.methods = engine().field_catalogue().methods;
  models.jpeg_model = shipped(a.session.models.family, "jpeg20");
  models.prior = a.session.models.prior.empty() ? shipped(a.session.models.family, "prior") : a.session.models.prior;
  models.options = model_options(a.session.models);
  models.size = a.session.models.size;
  models.version = SPNN_VERSION;
  a.server.log = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  studio::Server server(studio::studio_of(std::move(models), a.server.limits), a.server);
  fmt::print("studio: {}  (Ctrl-C stops it)\n", server.address());
  if (a.server.address != "127.0.0.1")
    fmt::print("studio: everybody who can reach {} can use it and see what is made\n", a.server.address);
  std::fflush(stdout);
  if (a.open) open_browser(server.address());
  server.run();
  fmt::print("studio: stopped\n");
}

}  // namespace

void add_studio(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("studio", "a page in the browser to edit, restore and understand faces");
  auto a = std::make_shared<StudioArguments>();
  command->add_option("--port", a->server.port, "where the page is; 0: any free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command
      ->add_option("--address", a->server.address,
                   "address to listen on; another than 127.0.0.1 opens the studio to the network")
      ->capture_default_str();
  command->add_option("--name", a->server.names,
                      "a further name under which the page may be opened; repeat for several");
  command->add_flag("--open", a->open, "open the page in the browser");
  add_models(*command, a->session.models, {.judge = true});
  add_size(*command, a->session.models);
  add_device(*command, a->session.device);
  command->footer(
      "Photos stay in the memory of this machine and are forgotten. The page asks nobody else for "
      "anything.\n\nExample:\n  spnn studio --open");
  command->callback([a] { serve(*a); });
}

}  // namespace spnn::cli
