#pragma once

#include <spnn/core/config.h>
#include <spnn/core/shape.h>

#include <string>
#include <vector>

namespace spnn {

// A density model: what a configuration file says and what a model file carries as `architecture`. A file may name a
// `preset` and then only say what differs:
//   nice             additive couplings, a diagonal scaling at the end, nothing factored out
//   realnvp          affine couplings, half of the channels factored out between scales as standard normal; act norm stands
//                    for its batch norm
//   glow             and LU-mixed channels, the factored-out half conditional on the rest
//   survae-maxpool   glow with max-pooling instead of a squeeze between scales
//   spline           glow with splines in its couplings
struct FlowConfig {
  enum class Coupling { additive, affine, spline };
  enum class Mix { none, cayley, householder, lu };
  enum class Discard { none, gaussian, conditional };   // half of the channels at the end of every scale but the last
  enum class Between { squeeze, max_pool };             // how the next scale is reached

  std::string name;
  Shape input = {};                  // of an image, without the border
  std::int64_t bits = 8;             // grey levels of the data: 2^bits
  std::int64_t border = 0;           // pixels cut off each side of what the data set gives (Fashion-MNIST comes padded by 2)
  std::int64_t augment = 0;          // further channels beside the image's, drawn from q(e | x)
  std::int64_t squeeze = 2;          // the factor of the first squeeze; later ones are 2
  std::vector<std::int64_t> steps = {4, 4};     // couplings at each scale
  std::vector<std::int64_t> hidden = {32, 64};  // channels inside their nets, at each scale
  Coupling coupling = Coupling::affine;
  double scale_bound = 2.0;          // of affine couplings
  std::int64_t spline_pieces = 8;    // of spline couplings
  double spline_bound = 4.0;         // they are the identity beyond ± this
  Mix mix = Mix::lu;
  bool act_norm = true;
  Discard discard = Discard::conditional;
  Between between = Between::squeeze;
  bool diagonal = false;             // NICE's S: a scale for every element of the last map

  friend bool operator==(const FlowConfig&, const FlowConfig&) = default;
};

void to_json(Json& json, const FlowConfig& config);
void from_json(const Json& json, FlowConfig& config);

}  // namespace spnn
