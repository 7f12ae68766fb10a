#pragma once

#include <spnn/blocks/subnet.h>
#include <spnn/flows/flow_layer.h>

#include <memory>

namespace spnn {

struct CouplingLayerConfig {
  Shape in;
  bool moves_first = true;   // which half of the channels moves; the other drives and passes
};

// [x_moved | x_kept] becomes [f(x_moved; θ) | x_kept] with θ = net(x_kept) and f rising in every entry, so that the Jacobian is
// triangular: log|det| = Σ log f'. What f is, a derived class says.
class CouplingLayer : public FlowLayer {
 public:
  Observed observe(const Tensor& x) const final;
  Tensor invert(const Completion& yz) const final;

  // Channels of the moved part of a coupling over `channels`.
  static std::int64_t moved(std::int64_t channels, bool moves_first);

 protected:
  CouplingLayer(const CouplingLayerConfig& config, std::shared_ptr<Subnet> net);

  struct Moved {
    Tensor y, log_det;   // log_det: [B]
  };
  virtual Moved move(const Tensor& x, const Tensor& theta) const = 0;
  virtual Tensor move_back(const Tensor& y, const Tensor& theta) const = 0;

 private:
  struct Parts {
    Tensor moved, kept;
  };
  Parts split(const Tensor& x) const;
  Tensor join(const Tensor& moved, const Tensor& kept) const;

  CouplingLayerConfig config_;
  std::int64_t first_;   // channels of the first part
  std::shared_ptr<Subnet> net_;
};

}  // namespace spnn
