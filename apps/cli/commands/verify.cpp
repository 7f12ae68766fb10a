#include <memory>

#include "commands.h"
#include "commands/projection_options.h"

namespace spnn::cli {
namespace {

void print(const app::VerifyReport& report) {
  std::printf("%s\n%-20s %12s %12s %12s\n", report.network.c_str(), "residual", "largest", "relative", "tolerance");
  for (const auto& row : report.residuals) {
    std::printf("%-20s %12.3g %12.3g %12.3g  %s\n", row.name.c_str(), row.absolute, row.relative, row.tolerance,
                row.passed ? "ok" : "OUT OF TOLERANCE");
  }
  std::printf("%-20s %12.3g   (no law: what the plain metric moves with the learned r)\n", "plain drift",
              report.plain_drift_of_learned_r);
  std::printf("%s\n", report.passed ? "passed" : "FAILED");
}

}  // namespace

void add_verify(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("verify", "measure the identities of a network; exit code 1 if one is out of tolerance");
  auto job = std::make_shared<app::VerifyJob>();
  add_network(*command, job->network);
  command->add_option("--images", job->images, "image or folder to measure on (default: random inputs)")
      ->check(CLI::ExistingPath);
  command->add_option("--count", job->count, "number of inputs")->check(CLI::Range(1, 4096))->capture_default_str();
  command->add_option("--seed", job->seed, "seed of random inputs and targets")->capture_default_str();
  command->add_option("--tolerance", job->tolerance,
                      "largest relative residual allowed (default: 1e-4 in float, 1e-11 in double)")
      ->check(CLI::PositiveNumber);
  command->add_option("--json", job->json, "also write the report to this file");
  command->callback([job] {
    const auto report = engine().verify(*job, terminal());
    print(report);
    if (!report.passed) throw CLI::RuntimeError(1);
  });
}

}  // namespace spnn::cli
