#include <spnn/core/errors.h>
#include <spnn/jobs/loaded_models.h>
#include <spnn/networks/presets.h>

namespace spnn::engine {
namespace {

constexpr std::string_view kPresetPrefix = "preset:";

SpnnModel random_preset(const std::string& name) {
  SpnnModel model;
  model.net = std::make_shared<Spnn>(spnn_preset(name));
  randomise_spnn(*model.net, Rng(0));
  for (auto& parameter : model.net->parameters()) parameter.requires_grad_(false);
  return model;
}

}  // namespace

torch::Device device_from(const std::string& text) {
  try {
    return torch::Device(text);
  } catch (const std::exception&) {
    throw UsageError(fmt::format("--device: expected a device that libtorch offers (cpu, cuda, cuda:1, …), got '{}'", text));
  }
}

LoadedModels::LoadedModels(const SessionConfig& config) : config_(config), device_(device_from(config.device)) {
  if (config_.load_now) restoration();
}

SpnnModel LoadedModels::load_network(const std::string& file) const {
  auto model = file.starts_with(kPresetPrefix) ? random_preset(file.substr(kPresetPrefix.size())) : load_spnn(file);
  ++loaded_;
  model.net->to(device_, config_.in_double ? torch::kFloat64 : torch::kFloat32);
  return model;
}

const SpnnModel& LoadedModels::classifier() const {
  const std::lock_guard lock(mutex_);
  if (!classifier_) {
    const auto& given = config_.models.classifier;
    classifier_ = load_network(given.starts_with(kPresetPrefix) ? given : model_file(given, config_.models.family, "classifier"));
  }
  return *classifier_;
}

std::shared_ptr<const Denoiser> open_prior(const ModelChoice& models, torch::Device device) {
  const auto prior = load_led_prior(model_file(models.prior, models.family, "prior"), device);
  return models.lead ? led(prior, *models.lead) : prior;
}

std::shared_ptr<const Denoiser> LoadedModels::prior() const {
  const std::lock_guard lock(mutex_);
  if (!prior_) {
    prior_ = open_prior(config_.models, device_);
    ++loaded_;
  }
  return prior_;
}

std::shared_ptr<const Upscaler> LoadedModels::upscaler() const {
  const std::lock_guard lock(mutex_);
  const auto& choice = config_.models;
  const auto own = prior()->shape();
  if (choice.size == 0 || choice.size == own.height) return nullptr;
  if (!upscaler_) {
    const auto file = model_file(choice.upscaler, "celebahq256", "upscaler");
    auto net = load_upscaler(file);
    require(net->low_size() == own.height && own.channels == 3, file, fmt::format("a second stage for {}", to_string(own)),
            fmt::format("one for {0}×{0}", net->low_size()));
    if (net->config().image_size != choice.size) {
      throw UsageError(fmt::format("--size: expected {}, or {} with this second stage, got {}", own.height, net->config().image_size, choice.size));
    }
    net->to(device_);
    upscaler_ = net;
    ++loaded_;
  }
  return upscaler_;
}

std::shared_ptr<const Denoiser> LoadedModels::large_prior() const {
  const auto second = upscaler();
  if (!second) return unled(prior());
  return std::make_shared<CascadeDenoiser>(unled(prior()), second);
}

const JudgeModel& LoadedModels::judge() const {
  const std::lock_guard lock(mutex_);
  if (judge_) return *judge_;
  const auto file = model_file(config_.models.judge, config_.models.family, "judge");
  auto model = load_judge(file);
  ++loaded_;
  const auto& g = classifier();
  require(model.net->in_shape() == g.net->in_shape(), file, fmt::format("a judge of {} images", to_string(g.net->in_shape())),
          to_string(model.net->in_shape()));
  require(model.outputs.names == g.outputs.names, file, "a judge of the classifier's attributes",
          "one of other attributes, or of the same in another order");
  model.net->to(device_);
  return judge_.emplace(std::move(model));
}

RestorationModels LoadedModels::restoration() const {
  const std::lock_guard lock(mutex_);
  const auto prior_file = model_file(config_.models.prior, config_.models.family, "prior");
  // What g says of the image narrows it enough: with a lead as well the judge agrees less (docs/experiments.md).
  RestorationModels models{classifier(), config_.models.lead ? prior() : unled(prior())};
  require(models.prior->shape() == models.shape(), prior_file,
          fmt::format("a prior of {} images, as the classifier takes", to_string(models.shape())), to_string(models.prior->shape()));
  return models;
}

SpnnModel LoadedModels::operator_network(const std::string& file) const {
  const std::lock_guard lock(mutex_);
  if (const auto known = operators_.find(file); known != operators_.end()) return known->second;
  return operators_.emplace(file, load_network(file)).first->second;
}

std::int64_t LoadedModels::loaded() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

}  // namespace spnn::engine
