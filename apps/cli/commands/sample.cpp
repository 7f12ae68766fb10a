#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {

void add_sample(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("sample", "draw images from a diffusion prior");
  auto job = std::make_shared<engine::SampleRequest>();
  job->count = 16;
  job->output = "samples";
  auto models = std::make_shared<engine::ModelChoice>();
  auto device = std::make_shared<std::string>("cpu");
  command->add_option("PRIOR", models->prior, "model file: ours, or a public DDPM U-Net checkpoint")
      ->required()->check(CLI::ExistingFile);
  command->add_option("-o,--output", job->output, "a folder for PNG files, or NAME.png for one contact sheet")
      ->capture_default_str();
  command->add_option("-n,--count", job->count, "how many images")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--seed", job->seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  add_size(*command, *models);
  add_lead(*command, *models);
  add_sampling(*command, job->sampling);
  add_device(*command, *device);
  command->callback([job, models, device] {
    only_helping(job->sampling, {&job->output});
    const auto report = session(*models, *device)->sample(*job, terminal());
    if (job->output.empty()) return;   // process 0 has written them
    fmt::print("{} images in {}, {:.2f} s per image\n", report.images.size(), job->output, report.timings.per_image);
  });
}

}  // namespace spnn::cli
