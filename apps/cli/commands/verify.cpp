#include <nlohmann/json.hpp>

#include <memory>

#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {
namespace {

void print(const engine::VerifyReport& report) {
  std::printf("%s\n%-20s %12s %12s %12s\n", report.network.c_str(), "residual", "largest", "relative", "tolerance");
  for (const auto& row : report.residuals) {
    std::printf("%-20s %12.3g %12.3g %12.3g  %s\n", row.name.c_str(), row.absolute, row.relative, row.tolerance,
                row.passed ? "ok" : "OUT OF TOLERANCE");
  }
  std::printf("%-20s %12.3g   (no law: what the plain metric moves with the learned r)\n", "plain drift",
              report.plain_drift_of_learned_r);
  std::printf("%s\n", report.passed ? "passed" : "FAILED");
}

std::string as_json(const engine::VerifyReport& report) {
  nlohmann::json json{{"network", report.network}, {"passed", report.passed}};
  for (const auto& row : report.residuals) {
    json["residuals"][row.name] = row.absolute;
    json["relative"][row.name] = row.relative;
    json["tolerances"][row.name] = row.tolerance;
  }
  json["plain_drift_of_learned_r"] = report.plain_drift_of_learned_r;
  return json.dump(2);
}

}  // namespace

void add_verify(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("verify", "measure the identities of a network; exit code 1 if one is out of tolerance");
  struct Arguments {
    NetworkArguments network;
    engine::VerifyRequest wish;
    std::string images;
  };
  auto a = std::make_shared<Arguments>();
  add_network(*command, a->network);
  command->add_option("--images", a->images, "image or folder to measure on (default: random inputs)")->check(CLI::ExistingPath);
  command->add_option("--count", a->wish.count, "number of inputs")->check(CLI::Range(1, 4096))->capture_default_str();
  command->add_option("--size", a->network.models.size, "verify the network behind the average pooling from images of so many pixels a side")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", a->wish.seed, "seed of random inputs and targets")->capture_default_str();
  command->add_option("--tolerance", a->wish.tolerance,
                      "largest relative residual allowed (default: 1e-4 in float, 1e-11 in double)")
      ->check(CLI::PositiveNumber);
  command->callback([a] {
    if (!a->images.empty()) a->wish.photos = photo_files(engine().image_files({a->images}));
    const auto report = a->network.open()->verify(a->wish, terminal());
    print(report);
    write_json(a->network.json, as_json(report));
    if (!report.passed) throw CLI::RuntimeError(1);
  });
}

}  // namespace spnn::cli
