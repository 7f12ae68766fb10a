#pragma once

#include <spnn/engine/default_models.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/layers/init.h>
#include <spnn/networks/judge.h>
#include <spnn/networks/presets.h>
#include <spnn/networks/spnn.h>
#include <spnn/networks/unet.h>

#include "support/temporary.h"

namespace spnn::testing {

// A classifier of ten made-up attributes of 32×32 grey images, a prior and a judge, all with random weights: enough for
// what commands do with files, names, seeds and errors.
class TinyModels {
 public:
  TinyModels() : names_{"Ant", "Bee", "Cat", "Dog", "Elk", "Fox", "Gnu", "Hen", "Ibis", "Jay"} {
    write_classifier();
    write_prior("prior", 32);
    write_prior("large-prior", 64);
    write_judge();
  }

  engine::ModelChoice choice() const {
    return {.family = "tiny", .classifier = file("classifier"), .prior = file("prior"), .judge = file("judge")};
  }
  std::string file(const std::string& role) const { return (folder_ / (role + ".safetensors")).string(); }
  const TemporaryFolder& folder() const { return folder_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::shared_ptr<Spnn>& net() const { return net_; }

 private:
  std::map<std::string, std::string> metadata(const std::string& kind, const Json& architecture) const {
    return {{"kind", kind}, {"architecture", architecture.dump()}, {"attributes", Json(names_).dump()}, {"task", "attributes"}};
  }

  void write_classifier() {
    const torch::NoGradGuard no_grad;
    net_ = std::make_shared<Spnn>(spnn_preset("fashion"));
    randomise_spnn(*net_, Rng(1));
    const auto y = net_->forward(Rng(2).uniform({64, 1, 32, 32}) * 2 - 1).to(torch::kFloat64);
    const auto centred = y - y.mean(0);
    auto tensors = state_of(*net_);
    tensors["statistics.mean"] = y.mean(0);
    tensors["statistics.covariance"] = centred.t().matmul(centred) / 63;
    write_safetensors(file("classifier"), {tensors, metadata("spnn", to_json(net_->config()))});
  }

  void write_prior(const std::string& role, std::int64_t size) {
    UNet net({.image_size = size, .in_channels = 1, .out_channels = 1, .ch = 8, .ch_mult = {1, 2}, .num_res_blocks = 1,
              .attn_resolutions = {}, .stem = 2, .norm_groups = 4});
    initialise(net, Rng(3));
    auto meta = metadata("ddpm-unet", net.config());
    meta["parameterization"] = "v";
    write_safetensors(file(role), {state_of(net), meta});
  }

  void write_judge() {
    Judge judge({.image_size = 32, .in_channels = 1, .widths = {8, 8}, .blocks = {1, 1}, .squeeze = 4, .features = 12, .outputs = 10, .norm_groups = 4});
    initialise(judge, Rng(4));
    write_safetensors(file("judge"), {state_of(judge), metadata("judge", judge.config())});
  }

  TemporaryFolder folder_;
  std::vector<std::string> names_;
  std::shared_ptr<Spnn> net_;
};

}  // namespace spnn::testing
