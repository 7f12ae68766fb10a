#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.h"

namespace spnn::cli {
namespace {

using Json = nlohmann::json;

void print_tensors(const Json& tensors) {
  for (const auto& tensor : tensors)
    fmt::print("  {:5} {:20} {}\n", tensor["dtype"].get<std::string>(), tensor["shape"].dump(),
               tensor["name"].get<std::string>());
}

// One line per key, and one per element for lists of tables: blocks of a network are read one below the other.
void print_table(const char* title, const Json& table) {
  fmt::print("{}\n", title);
  for (const auto& [key, value] : table.items()) {
    if (!value.is_array() || value.empty() || !value[0].is_object()) {
      fmt::print("  {:18} {}\n", key, value.dump());
      continue;
    }
    fmt::print("  {}\n", key);
    for (const auto& element : value) fmt::print("    {}\n", element.dump());
  }
}

void print(const Json& report, bool with_tensors) {
  const auto line = [](const char* title, const std::string& value) { fmt::print("{:14}{}\n", title, value); };
  line("container", report["container"]);
  line("kind", report["kind"]);
  line("description", report["description"]);
  if (report.contains("taken")) line("taken", report["taken"]);
  line("tensors", std::to_string(report["tensors"].size()));
  line("parameters", fmt::format("{}", report["parameters"].get<std::int64_t>()));
  if (!report["architecture"].is_null()) print_table("architecture", report["architecture"]);
  for (const auto& [key, value] : report["metadata"].items()) {
    if (value.is_string()) line(key.c_str(), value);
    else print_table(key.c_str(), value);
  }
  if (with_tensors) print_tensors(report["tensors"]);
}

}  // namespace

void add_inspect(CLI::App& spnn) {
  auto* inspect = spnn.add_subcommand("inspect", "say what a model file is: container, network, tensors, training record");
  auto job = std::make_shared<engine::InspectJob>();
  auto tensors = std::make_shared<bool>(false);
  inspect->add_option("FILE", job->file, "safetensors, or PyTorch's zip or legacy format")
      ->required()->check(CLI::ExistingFile);
  inspect->add_flag("--tensors", *tensors, "also list every tensor with its type and shape");
  inspect->add_option("--json", job->json, "write all of it to this file as JSON");
  inspect->callback([job, tensors] { print(Json::parse(engine().inspect(*job)), *tensors); });
}

}  // namespace spnn::cli
