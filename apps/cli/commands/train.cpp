#include <cstdio>
#include <memory>
#include <string>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

void add_job(CLI::App& command, engine::TrainJob& job) {
  command.add_option("CONFIG", job.config, "configuration file, TOML or JSON (see configs/)")
      ->required()->check(CLI::ExistingFile);
  command.add_option("--data", job.data, "a tar, a folder, or 'fashion-mnist' (see 'spnn data info')")->required();
  command.add_option("--run", job.run, "the run directory: state, record and models go there")->required();
  command.add_flag("--resume", job.resume, "continue the run exactly where it was killed or interrupted");
  command.add_option("--from", job.from, "a model of the same architecture (nets r may be narrower) to start from")->check(CLI::ExistingFile);
  command.add_option("--steps", job.steps, "steps to train, instead of the configuration's; may change on a resume")
      ->check(CLI::PositiveNumber);
  add_cpu_only(command, "training runs");
}

std::shared_ptr<engine::TrainJob> add_job(CLI::App& command) {
  auto job = std::make_shared<engine::TrainJob>();
  add_job(command, *job);
  return job;
}

void print(const engine::DegradationReport& r) {
  std::printf("%s, %s: %lld of %lld numbers, T†T D(x) is %.2f dB from D(x); on %lld held-out pictures:\n", r.degradation.c_str(), r.keep.c_str(),
              static_cast<long long>(r.outputs), static_cast<long long>(r.inputs), r.seen_psnr, static_cast<long long>(r.held_out));
  for (const auto& row : r.rows) {
    std::printf("  %-17s rms |g(x) - T D(x)| %.5f (pixels in [0, 1])  PSNR %6.2f dB", row.name.c_str(), row.rms, row.psnr);
    if (row.parameters > 0) {
      std::printf("  %lld weights, %lld steps, %.0f s", static_cast<long long>(row.parameters), static_cast<long long>(row.steps), row.seconds);
    }
    std::puts("");
  }
  std::printf("  g†(g(x)) is %.2f dB from x\n%s\n", r.inverse_psnr, r.model.c_str());
}

void add_degradation(CLI::App& train) {
  auto* command = train.add_subcommand("degradation", "g for a black box: an SPNN fitted to what a program does to pictures, for restore --operator model:FILE");
  auto job = std::make_shared<engine::DegradationJob>();
  auto pairs = std::make_shared<std::vector<std::string>>();
  command->add_option("CONFIG", job->config, "configuration file, TOML or JSON (see configs/degradation-*.toml); none has good defaults for 64 pixels")
      ->check(CLI::ExistingFile);
  auto* box = command->add_option("--operator", job->degradation, "the black box: jpeg:20, quantize:4, clip, isp, lens, joined by '+' (see 'spnn operators')");
  command->add_option("--data", job->data, "pictures to degrade: a tar, a folder, or 'fashion-mnist'")->needs(box);
  command->add_option("--pairs", *pairs, "or two folders, CLEAN DEGRADED, with files of the same names")->expected(2)->check(CLI::ExistingDirectory)->excludes(box);
  command->add_option("--keep", job->keep, "what of a degraded picture g gives: dct:luma=60,chroma=60 (the lowest frequencies of 8x8 blocks; the default) or pool:2");
  command->add_option("--run", job->run, "the run directory; the model is its degradation.safetensors")->required();
  command->add_flag("--resume", job->resume, "continue the run exactly where it was killed or interrupted");
  command->add_option("--steps", job->steps, "steps of the fit, instead of the configuration's")->check(CLI::PositiveNumber);
  add_cpu_only(*command, "training runs");
  command->add_flag("--baseline", job->baseline, "also train a plain CNN with as many weights for as long, to compare");
  command->callback([job, pairs] {
    if (!pairs->empty()) job->clean = pairs->at(0), job->degraded = pairs->at(1);
    print(engine().train_degradation(*job, terminal()));
  });
}

struct PlotArguments {
  std::string run, output;
};

void add_plot(CLI::App& train) {
  auto* plot = train.add_subcommand("plot", "draw the curves of a run");
  auto a = std::make_shared<PlotArguments>();
  plot->add_option("RUN", a->run, "a run directory")->required()->check(CLI::ExistingDirectory);
  plot->add_option("-o,--output", a->output, "the SVG file (default: curves.svg in the run directory)");
  plot->callback([a] {
    const auto file = a->output.empty() ? a->run + "/curves.svg" : a->output;
    engine().plot_run(a->run, file);
    std::puts(file.c_str());
  });
}

}  // namespace

void add_train(CLI::App& spnn) {
  auto* train = spnn.add_subcommand("train", "train a network; every trainer can be killed and resumed exactly");
  train->require_subcommand(1);

  auto* prior = train->add_subcommand("prior", "a DDPM prior");
  prior->callback([job = add_job(*prior)] { engine().train_prior(*job, terminal()); });

  auto* classifier = train->add_subcommand("classifier", "phase I: an SPNN on the labels of a data set");
  auto classifier_job = std::make_shared<engine::ClassifierJob>();
  add_job(*classifier, *classifier_job);
  classifier->add_option("--black-box", classifier_job->black_box,
                         "an SPNN or a judge whose outputs g learns (mean squared error) instead of the labels")
      ->check(CLI::ExistingFile);
  classifier->callback([classifier_job] { engine().train_classifier(*classifier_job, terminal()); });

  auto* natural = train->add_subcommand("natural", "phase III: g and r, asked what back-projected images look like; from scratch also phase I");
  auto natural_job = std::make_shared<engine::NaturalJob>();
  add_job(*natural, *natural_job);
  natural->add_option("--teacher", natural_job->teacher, "a judge trained through noise (configs/teacher-*.toml); not the one that evaluates")
      ->required()->check(CLI::ExistingFile);
  natural->add_option("--memory", natural_job->memory, "a classifier whose answers g shall keep (losses.memory), of phase I for instance")
      ->check(CLI::ExistingFile);
  natural->add_option("--identities", natural_job->identities,
                      "a text file with a line 'picture person' for every picture: validates on one half of the people (val-a), so that the other can be reported on")
      ->check(CLI::ExistingFile);
  natural->callback([natural_job] { engine().train_natural(*natural_job, terminal()); });

  auto* inverse = train->add_subcommand("inverse", "phase II: the nets r of the pseudo-inverse, the rest frozen");
  auto inverse_job = std::make_shared<engine::InverseJob>();
  inverse->add_option("MODEL", inverse_job->model, "the SPNN of phase I (its best.safetensors)")
      ->required()->check(CLI::ExistingFile);
  add_job(*inverse, *inverse_job);
  inverse->callback([inverse_job] { engine().train_inverse(*inverse_job, terminal()); });

  auto* judge = train->add_subcommand("judge", "a plain CNN on the labels, for evaluation only");
  judge->callback([job = add_job(*judge)] { engine().train_judge(*job, terminal()); });

  auto* upscaler = train->add_subcommand("upscaler", "the second stage of a cascade: the detail of large images, given small ones");
  upscaler->callback([job = add_job(*upscaler)] { engine().train_upscaler(*job, terminal()); });

  auto* identity = train->add_subcommand("identity", "an embedding that tells people apart, for evaluation only");
  auto identity_job = std::make_shared<engine::IdentityJob>();
  add_job(*identity, *identity_job);
  identity->add_option("--identities", identity_job->identities, "a text file with a line 'picture person' for every picture")
      ->required()->check(CLI::ExistingFile);
  identity->callback([identity_job] { engine().train_identity(*identity_job, terminal()); });

  add_degradation(*train);
  auto* density = train->add_subcommand("density", "a flow: NICE, RealNVP, Glow or SurVAE, by maximum likelihood");
  density->callback([job = add_job(*density)] { engine().train_density(*job, terminal()); });

  add_plot(*train);
}

}  // namespace spnn::cli
