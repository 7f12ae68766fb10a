#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

void add_model(CLI::App& command, std::string& model) {
  command.add_option("MODEL", model, "a density model ('spnn train density' makes one)")->required()->check(CLI::ExistingFile);
  add_cpu_only(command, "densities are computed");
}

void add_density_sample(CLI::App& density) {
  auto* command = density.add_subcommand("sample", "draw images from the density");
  auto job = std::make_shared<engine::DensitySampleJob>();
  add_model(*command, job->model);
  command->add_option("-o,--output", job->output, "the contact sheet to write, PNG")->capture_default_str();
  command->add_option("-n,--count", job->count, "how many images")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--seed", job->seed, "image i of a seed is the same in every batch")->capture_default_str();
  command->add_option("--temperature", job->temperature, "scales the deviation of what is drawn; below 1 is tamer")
      ->check(CLI::Range(0.0, 10.0))->capture_default_str();
  command->add_option("--columns", job->columns, "of the sheet (default: about as many as rows)")->check(CLI::PositiveNumber);
  command->add_option("--scale", job->scale, "enlarge the pixels so many times")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--batch", job->batch, "images computed together")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--json", job->json, "also write the report to this file");
  command->callback([job] {
    const auto report = engine().sample_density(*job, terminal());
    fmt::print("{} images in {}, {:.3f} s per image\n", report.images, job->output, report.seconds_per_image);
  });
}

void add_density_interpolate(CLI::App& density) {
  auto* command = density.add_subcommand("interpolate", "images between two images, in the latent parts of the model");
  auto job = std::make_shared<engine::DensityInterpolateJob>();
  add_model(*command, job->model);
  auto* images = command->add_option("IMAGES", job->images, "pairs of image files")->check(CLI::ExistingFile);
  auto* data = command->add_option("--data", job->data, "instead: the first images of a data set, in pairs");
  images->excludes(data);
  command->add_option("--split", job->split, "of the data set")->check(CLI::IsMember(splits()))
      ->capture_default_str();
  command->add_option("--pairs", job->pairs, "how many pairs of the data set")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--steps", job->steps, "images per row, both ends included")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--scale", job->scale, "enlarge the pixels so many times")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("-o,--output", job->output, "the contact sheet to write, PNG")->capture_default_str();
  command->add_option("--json", job->json, "also write the report to this file");
  command->callback([job] {
    const auto report = engine().interpolate_density(*job, terminal());
    fmt::print("{} pairs in {}, the ends come back to {:.2g}\n", report.pairs, job->output, report.largest_error);
  });
}

void add_density_evaluate(CLI::App& density) {
  auto* command = density.add_subcommand("evaluate", "bits per dimension on held-out images");
  auto job = std::make_shared<engine::DensityEvaluateJob>();
  add_model(*command, job->model);
  command->add_option("--data", job->data, "a tar, a folder, or 'fashion-mnist' (see 'spnn data info')")->required();
  command->add_option("--split", job->split, "which images")->check(CLI::IsMember(splits()))
      ->capture_default_str();
  command->add_option("-n,--count", job->count, "only the first so many images")->check(CLI::PositiveNumber);
  command->add_option("--draws", job->draws, "draws of the dequantisation noise, averaged")->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", job->seed, "of that noise")->capture_default_str();
  command->add_option("--json", job->json, "also write the figures to this file");
  command->callback([job] {
    const auto f = engine().evaluate_density(*job, terminal());
    fmt::print("{}: {:.4f} ± {:.4f} bits per dimension ({} images of {} dimensions, {} bits; {:.2f} M parameters, {:.1f} ms per image)\n",
               f.name, f.bits_per_dim, f.standard_error, f.images, f.dimensions, f.bits,
               static_cast<double>(f.parameters) / 1e6, f.milliseconds_per_image);
  });
}

}  // namespace

void add_density(CLI::App& spnn) {
  auto* density = spnn.add_subcommand("density", "flows (NICE, RealNVP, Glow, SurVAE): draw, interpolate, bits per dimension");
  density->require_subcommand(1);
  add_density_sample(*density);
  add_density_interpolate(*density);
  add_density_evaluate(*density);
}

}  // namespace spnn::cli
