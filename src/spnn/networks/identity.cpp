#include <spnn/layers/init.h>
#include <spnn/networks/identity.h>


namespace spnn {
namespace {

Tensor of_unit_length(const Tensor& v) { return v / v.norm(2, 1, /*keepdim=*/true).clamp_min(1e-6); }

}  // namespace

Identity::Identity(const JudgeConfig& config) { trunk_ = register_module("trunk", std::make_shared<Judge>(config)); }

Tensor Identity::look(const Tensor& x) const { return of_unit_length(trunk_->logits(trunk_->look(x))); }

Tensor Identity::embed(const Tensor& x) const { return of_unit_length(trunk_->forward(x)); }

void initialise_identity(Identity& net, const Rng& rng, const Tensor& faces) {
  const torch::NoGradGuard no_grad;
  initialise_judge(*net.trunk_, rng.fork(0));
  auto& head = *net.trunk_->named_children()["head"];
  initialise(head, rng.fork(1));
  head.named_parameters()["bias"].sub_(net.trunk_->logits(net.trunk_->look(faces)).mean(0));
}

}  // namespace spnn
