#include <dlfcn.h>
#include <unistd.h>

#include <interface_id.h>
#include <spnn/version.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "allocator.h"
#include "command.h"
#include "commands.h"
#include "exit_code.h"
#include "process_environment.h"
#include "without_memory.h"

namespace spnn::cli {

void add_studio(CLI::App& spnn);   // commands/studio.cpp; compiled alone, as it alone knows the server

namespace {

int threads = 0;

// What --json names is written when the work is done: whether it can be is asked before.
std::string not_writable(const std::string& file) {
  const std::filesystem::path path(file);
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::is_directory(path)) return "expected a file to write, got the folder " + file;
  if (!std::filesystem::is_directory(folder)) return "expected a file in a folder that exists, got " + file;
  const bool there = std::filesystem::exists(path);
  return access(there ? path.c_str() : folder.c_str(), W_OK) == 0 ? "" : "expected a file that can be written, got " + file;
}

void check_reports(CLI::App& command) {
  if (auto* report = command.get_option_no_throw("--json")) report->check(not_writable);
  for (auto* inner : command.get_subcommands({})) check_reports(*inner);
}

engine::Engine* load() {
  if (!has_room_for_engine()) throw NoEngine("spnn: expected 1 GB of addresses for the engine, got less (ulimit -v?)");
  prepare_environment();
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const std::filesystem::path places[] = {here / "libspnn.so", here / "../lib/libspnn.so", "libspnn.so.0"};
  void* library = nullptr;
  std::string why;
  for (const auto& place : places) {
    library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library) break;
    if (const char* text = dlerror(); why.empty() || std::filesystem::exists(place)) why = text;
  }
  if (!library) throw NoEngine("spnn: expected libspnn.so beside the command, got " + why);
  const auto id = reinterpret_cast<const char* (*)()>(dlsym(library, "spnn_interface_id"));
  const auto make = reinterpret_cast<engine::Engine* (*)()>(dlsym(library, "spnn_engine"));
  if (!id || !make || std::string_view(id()) != SPNN_INTERFACE_ID)
    throw NoEngine("spnn: expected a libspnn.so of the same build as the command, got another one (build the targets spnn "
                   "and spnn_cli together, or install both again)");
  return make();
}

}  // namespace

engine::Engine& engine() {
  static engine::Engine* loaded = [] {
    auto* engine = load();
    engine->set_threads(threads > 0 ? threads : static_cast<int>(std::thread::hardware_concurrency()));
    return engine;
  }();
  return *loaded;
}

std::unique_ptr<engine::Session> session(const engine::ModelChoice& models, const std::string& device, bool in_double) {
  return engine().open({.models = models, .device = device, .in_double = in_double});
}

}  // namespace spnn::cli

int main(int argc, char** argv) {
  using namespace spnn::cli;
  std::set_terminate(end_with_a_sentence);
  keep_large_blocks();
  CLI::App spnn{"Pseudo-invertible neural networks: train, verify, invert, restore and edit."};
  spnn.name("spnn");
  spnn.set_version_flag("--version", "spnn " SPNN_VERSION);
  spnn.require_subcommand(1);
  spnn.add_option("--threads", threads, "threads to compute with (default: all cores)")->envname("OMP_NUM_THREADS")->check(CLI::Range(1, 1024));
  spnn.fallthrough();
  for (const auto add : all_commands) add(spnn);
  add_studio(spnn);
  check_reports(spnn);
  return run(spnn, argc, argv);
}
