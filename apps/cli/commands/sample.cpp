#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"

namespace spnn::cli {

void add_sample(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("sample", "draw images from a diffusion prior");
  auto job = std::make_shared<app::SampleJob>();
  command->add_option("PRIOR", job->prior, "model file: ours, or a public DDPM U-Net checkpoint")
      ->required()->check(CLI::ExistingFile);
  command->add_option("-o,--output", job->output, "a folder for PNG files, or NAME.png for one contact sheet")
      ->capture_default_str();
  command->add_option("-n,--count", job->count, "how many images")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--seed", job->seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command->add_option("--steps", job->steps, "steps of the respaced chain")->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--sampler", job->sampler, "ddpm, ddim, or reference (the public SPNN code's variance)")
      ->check(CLI::IsMember({"ddpm", "ddim", "reference"}))->capture_default_str();
  command->add_option("--eta", job->eta, "noise of DDIM: 0 is deterministic, 1 is DDPM's")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--travel-length", job->travel_length, "time travel: steps back a jump")
      ->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--travel-repeat", job->travel_repeat, "time travel: how often each stretch is walked")
      ->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--batch", job->batch, "images computed together")->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([job] {
    const auto report = engine().sample(*job, terminal());
    fmt::print("{} images in {}, {:.2f} s an image\n", report.images, job->output, report.seconds_per_image);
  });
}

}  // namespace spnn::cli
