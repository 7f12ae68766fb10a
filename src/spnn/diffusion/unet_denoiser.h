#pragma once

#include <spnn/core/config.h>
#include <spnn/diffusion/denoiser.h>
#include <spnn/networks/unet.h>

#include <memory>
#include <string>

namespace spnn {

// What the network's output means. Public weights predict ε. Ours predict v = √ᾱ ε − √(1−ᾱ) x0, whose size does not
// depend on t: it trains faster at a small budget, and ε = √ᾱ v + √(1−ᾱ) x_t exports it exactly.
enum class Parameterization { eps, v };

Parameterization parameterization_from(const std::string& name);
std::string to_string(Parameterization p);

// The U-Net's ε; of a grid over the whole image, which a network behind a stem cannot see, what is known of it (cell_patterns.h).
class UNetDenoiser final : public Denoiser {
 public:
  UNetDenoiser(std::shared_ptr<const UNet> net, Schedule schedule, Parameterization parameterization);

  Tensor eps(const Tensor& x_t, std::int64_t t) const override;
  Shape shape() const override;
  const Schedule& schedule() const override { return schedule_; }
  const UNet& net() const { return *net_; }

 private:
  std::shared_ptr<const UNet> net_;
  Schedule schedule_;
  Parameterization parameterization_;
};

}  // namespace spnn
