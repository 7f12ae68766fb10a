#include <fmt/format.h>
#include <spnn/restoration/method_table.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

void add_method_options(CLI::App& command, engine::MethodOptions& o) {
  const auto group = "Methods";
  command.add_option("--lambda", o.lambda, "nlbp: how far x̂0 is moved towards y at a step")->check(CLI::Range(0.0, 1.0))->capture_default_str()->group(group);
  command.add_flag("--exact", o.exact, "nlbp: go all the way to y, though it is noisy or g only fitted to what was done")->group(group);
  command.add_option("--metric", o.metric, "nlbp on a network: plain (the paper's) or residual")->check(CLI::IsMember(metrics()))
      ->capture_default_str()->group(group);
  command.add_option("--pseudo-inverse", o.pseudo_inverse, "of a network: learned, anchored, origin, random, min-norm")
      ->check(CLI::IsMember(pseudo_inverses()))->capture_default_str()->group(group);
  command.add_option("--gradient", o.gradient, "dps, mcg: step along -grad |y - g(x0)|, as the papers state it for 3x256x256 and 1000 steps; scaled to yours")
      ->check(CLI::NonNegativeNumber)->capture_default_str()->group(group);
  command.add_option("--ddrm-eta", o.ddrm_eta, "ddrm: fresh noise a step")->check(CLI::Range(0.0, 1.0))->capture_default_str()->group(group);
  command.add_option("--ddrm-eta-b", o.ddrm_eta_b, "ddrm: weight of y where it is cleaner than the step")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()->group(group);
  command.add_option("--repaint-length", o.repaint_length, "repaint: steps back a jump")->check(CLI::PositiveNumber)->capture_default_str()->group(group);
  command.add_option("--repaint-repeat", o.repaint_repeat, "repaint: how often each stretch is walked")->check(CLI::PositiveNumber)
      ->capture_default_str()->group(group);
  command.add_option("--langevin", o.langevin, "snips: Langevin steps a noise level (--steps in all)")->check(CLI::PositiveNumber)
      ->capture_default_str()->group(group);
  command.add_option("--langevin-step", o.langevin_step, "snips: their length in units of the level's variance")->check(CLI::Range(0.0, 1.0))
      ->capture_default_str()->group(group);
  command.add_option("--iterations", o.iterations, "ibp: back-projections")->check(CLI::PositiveNumber)->capture_default_str()->group(group);
  for (const auto& s : method_settings()) {
    auto name = "--" + s.name;
    std::ranges::replace(name, '_', '-');
    command.add_option_function<double>(name, [&o, key = s.name](double value) { o.more[key] = value; }, s.what)->check(CLI::Range(s.low, s.high))
        ->default_str(fmt::format("{}", s.otherwise))->group(group);
  }
}

std::string all_methods() {
  std::string names;
  for (const auto& m : method_catalogue()) names += m.name + ", ";
  return names.substr(0, names.size() - 2);
}

void print(const engine::FieldCatalogue& all) {
  fmt::print("Operators, joined by '+' in the order in which they act (gamma+sr4, gauss:2+sr4). sr4 is sr:factor=4.\n\n");
  for (const auto& o : all.operators) fmt::print("  {:<9} {}\n            {}\n            pseudo-inverse: {}\n", o.name, o.parameters, o.what, o.pseudo_inverse);
  fmt::print("\nBlack boxes, to which 'spnn train degradation' fits a network for model:FILE\n\n");
  for (const auto& b : all.black_boxes) fmt::print("  {:<9} {}\n            {}\n", b.name, b.parameters, b.what);
  fmt::print("\nMethods (* asks for a linear operator, ~ does not take a noisy y as exact)\n\n");
  for (const auto& m : all.methods) fmt::print("  {:<12} {}{} {}\n", m.name, m.linear_only ? '*' : ' ', m.knows_noise ? '~' : ' ', m.what);
  fmt::print("\nNoise is stated in units of pixels in [0, 1]: --noise 0.05 is 12.75 grey levels of 255.\n");
}

double mean_of(const engine::RestoreResult& report, double (*value)(const engine::RestoredImage&)) {
  double sum = 0;
  for (const auto& image : report.images) sum += value(image);
  return sum / static_cast<double>(report.images.size());
}

void print(const engine::RestoreResult& report) {
  using Image = engine::RestoredImage;
  const auto& first = report.images.front();
  for (const auto& image : report.images) {
    fmt::print("{}  ", image.file);
    if (image.psnr) fmt::print("PSNR {:.2f} dB  SSIM {:.4f}  ", *image.psnr, *image.ssim);
    fmt::print("rms g(x)-y {:.2e}  ", image.inconsistency);
    if (image.truth) fmt::print("D(x)-D {:.2e}  ", *image.truth);
    fmt::print("seed {}\n", image.seed);
  }
  fmt::print("{} images by {}: ", report.images.size(), report.method);
  if (first.psnr) {
    fmt::print("PSNR {:.2f} dB, SSIM {:.4f}, ", mean_of(report, [](const Image& i) { return *i.psnr; }), mean_of(report, [](const Image& i) { return *i.ssim; }));
  }
  fmt::print("rms g(x)-y {:.2e} as sampled and {:.2e} as saved (pixels in [0, 1]), {:.2f} s and {} evaluations of the prior an image\n",
             mean_of(report, [](const Image& i) { return i.inconsistency_sampled; }), mean_of(report, [](const Image& i) { return i.inconsistency; }),
             report.timings.per_image, report.evaluations);
  if (first.truth) {
    fmt::print("rms D(x)-D {:.2e} as saved: against what the black box itself makes of the result\n", mean_of(report, [](const Image& i) { return *i.truth; }));
  }
  if (!report.page.empty()) fmt::print("report: {}\n", report.page);
}

}  // namespace

void add_operators(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("operators", "list the degradations and the methods that undo them");
  command->callback([] { print(engine().field_catalogue()); });
}

void add_restore(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("restore", "undo a degradation by any method of the field: photos that are degraded, or clean ones to try on");
  struct Arguments {
    engine::RestoreRequest wish{.files = {.folder = "restored"}};
    engine::ModelChoice models;
    std::string device = "cpu", mask;
    std::vector<std::string> places;
  };
  auto a = std::make_shared<Arguments>();
  auto* job = &a->wish;
  command->add_option("IN", a->places, "images, or folders of them; outputs keep their names")->required()->check(CLI::ExistingPath);
  command->add_option("--operator", job->degradation, "what happened to the image, see 'spnn operators': sr4, gauss:2, gamma+sr4, model:FILE, …")->required();
  command->add_flag("--degraded", job->degraded, "IN are already degraded: the measurement is the file (default: IN are clean, degrade them first)");
  command->add_option("--noise", job->noise, "of the measurement: σ in units of pixels in [0, 1], or poisson:PHOTONS")->capture_default_str();
  command->add_option("--method", job->method, all_methods() + "; auto is nlbp, or ddrm where there is noise and g is linear")
      ->capture_default_str();
  command->add_option("--mask", a->mask, "of the operator 'mask': an image (white is known), or a folder with one of each image's name")->check(CLI::ExistingPath);
  add_fit(*command, job->fit);
  command->add_option("-o,--output", job->files.folder, "a folder")->capture_default_str();
  command->add_option("--seed", job->seed, "image i is made from seed + i, whatever the batch")->capture_default_str();
  command->add_option("--report", job->files.report, "add to DIR/report.html, with the tables as CSV beside it");
  add_models(*command, a->models, {.classifier = false});
  add_size(*command, a->models);
  add_device(*command, a->device);
  add_sampling(*command, job->sampling);
  add_method_options(*command, job->options);
  command->footer("Examples:\n  spnn restore small.png --degraded --operator sr4 -o out          # a 16×16 face, four times larger\n"
                  "  spnn restore holes.png --degraded --operator mask --mask mask.png -o out\n"
                  "  spnn restore faces/ --operator gauss:1.5 --noise 0.05 --method ddrm -o out   # degrade, restore, measure");
  command->callback([a] {
    a->wish.files.command = command_line();
    only_helping(a->wish.sampling, {&a->wish.files.folder, &a->wish.files.report});
    a->wish.photos = photo_files(engine().image_files(a->places));
    if (!a->mask.empty() && std::filesystem::is_directory(a->mask)) a->wish.masks_folder = a->mask;
    else if (!a->mask.empty()) a->wish.masks = photo_files({a->mask});
    print(session(a->models, a->device)->restore(a->wish, terminal()));
  });
}

void add_compare(CLI::App& spnn) {
  auto* command = spnn.add_subcommand("compare", "methods × operators on the same images, prior, seeds and measures: CSV, HTML and figures");
  auto job = std::make_shared<engine::CompareJob>();
  auto json = std::make_shared<std::string>();
  command->add_option("DATA", job->data, "data set (its held-out images) or a folder of images")->required();
  command->add_option("--images", job->images, "how many")->check(CLI::Range(2, 1000000))->capture_default_str();
  command->add_option("--operators", job->operators, "what to undo; OPERATOR@NOISE has a noise of its own")->delimiter(' ')->capture_default_str();
  command->add_option("--noise", job->noises, "σ in units of pixels in [0, 1], for all operators without their own")->delimiter(',')->capture_default_str();
  command->add_option("--methods", job->methods, "which (default: all that apply)")->delimiter(',');
  command->add_option("--shown", job->shown, "images in each figure")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("-o,--output", job->output, "a folder: comparison.csv, report.html, a figure for each operator and noise")->capture_default_str();
  command->add_option("--seed", job->seed, "image i has seed + i in every row")->capture_default_str();
  command->add_option("--json", *json, "write all figures to this file");
  command->add_option("--identity", job->identity, "an identity network: the distance of restored and clean in its feature maps too")->check(CLI::ExistingFile);
  add_held_out(*command, job->held_out);
  add_models(*command, job->models, {.classifier = false, .judge = true});
  add_size(*command, job->models);
  add_device(*command, job->device);
  add_sampling(*command, job->sampling);
  add_method_options(*command, job->options);
  command->callback([job, json] {
    job->command = command_line();
    only_helping(job->sampling, {&job->output, json.get()});
    finish(engine().compare(*job, terminal()), *json);
  });
}

}  // namespace spnn::cli
