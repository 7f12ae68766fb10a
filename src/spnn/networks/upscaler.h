#pragma once

#include <spnn/networks/unet.h>

namespace spnn {

// The second stage of a cascade. Average pooling A over factor×factor cells has the completion x ↔ [A x | V₀ᵀx]; this network
// is a diffusion model of z = V₀ᵀx given y = A x, the detail given the small image. Whatever it says, A†y + V₀z has the small
// image y: it can add and never contradict.
struct UpscalerConfig {
  std::int64_t image_size = 256;    // of the large image
  std::int64_t factor = 4;
  double noise_level = 0.2;         // the small image is shown in training with noise of σ up to this, small ones more often
  bool by_frequency = false;        // ẑ0 is a Wiener filter of the spread of every frequency at every place; false: of spread 1, which is v-prediction
  UNetConfig unet = {.image_size = 32, .ch = 48, .ch_mult = {1, 2, 4}, .num_res_blocks = 1, .attn_resolutions = {}, .norm_groups = 16};
};
// unet: image_size is that of the maps in training, in and out channels follow from the factor.
void to_json(Json& json, const UpscalerConfig& config);
void from_json(const Json& json, UpscalerConfig& config);

class Upscaler : public torch::nn::Module {
 public:
  explicit Upscaler(UpscalerConfig config);

  // The bijection: orthonormal DCT of every cell and of its colours, the mean apart. z: [B, 3f²−3, h, w], about unit variance.
  Tensor low(const Tensor& x) const;                       // A x
  Tensor detail(const Tensor& x) const;                    // z = V₀ᵀx over the scale
  Tensor image(const Tensor& low, const Tensor& z) const;  // A†low + V₀z

  // What the network is shown beside z_t: the small image (with noise of `level` in it, [B] or [1]), the place of every cell
  // in the whole image, and the level. `top`, `left` [B]: where a crop begins, in cells; none for whole images.
  Tensor guide(const Tensor& low, const Tensor& level, const Tensor& top = {}, const Tensor& left = {}) const;

  // ẑ0 = E[z | z_t, guide] at time t with ᾱ (both [B] or [1]), for z_t of [B, 3f²−3, h, w]. Any h and w that the U-Net can halve.
  // Where values spread by s it is ẑ0 = skip·z_t − out·F, with F of unit variance at all times:
  //   skip = √ᾱ s²/(ᾱ s² + 1 − ᾱ),   out = s √(1 − ᾱ)/√(ᾱ s² + 1 − ᾱ).
  // The network says F, and by how much s differs here from that of the frequency in photos: hair has detail, a wall has none. So noise is
  // taken away by a factor, which no narrow network could copy out, and an error is in proportion to what there is: no grain on walls.
  Tensor z0_hat(const Tensor& z_t, const Tensor& guide, const Tensor& t, const Tensor& alpha_bar) const;

  // F as if s were the frequency's own everywhere, and what it should be: what is trained. [B, 3f²−3, h, w] both.
  struct Residual {
    Tensor given, wanted;
  };
  Residual residual(const Tensor& z0, const Tensor& z_t, const Tensor& guide, const Tensor& t, const Tensor& alpha_bar) const;

  // z has the unit mean square of the detail of some images [N, 3, H, W]. One scale for all frequencies: noise in the pixels of
  // x is then noise of one size in z, and the two stages together are a prior of large images.
  void measure_scale(const Tensor& images);
  double scale() const { return scale_.item<double>(); }
  Tensor spread() const { return spread_; }   // s of every frequency, [3f²−3]

  // The weights of a network whose F means something else: all but those of the last layer.
  void learn_from(const Upscaler& other);

  const UpscalerConfig& config() const { return config_; }
  std::int64_t detail_channels() const { return 3 * config_.factor * config_.factor - 3; }
  std::int64_t low_size() const { return config_.image_size / config_.factor; }
  UNet& unet() { return *unet_; }

 private:
  Tensor coefficients(const Tensor& x) const;   // [B, 3f², h, w], the three means (times f) first
  struct Preconditioning {
    Tensor skip, out;
  };
  static Preconditioning preconditioning(const Tensor& alpha_bar, const Tensor& spread);
  Tensor spread_like(const Tensor& z) const { return spread_.to(z.options()).view({1, -1, 1, 1}); }

  UpscalerConfig config_;
  std::shared_ptr<UNet> unet_;
  Tensor basis_;     // [3f², 3f²] double, orthonormal
  Tensor scale_;     // a buffer, [1]
  Tensor spread_;    // [3f²−3]: a buffer, or ones
};

}  // namespace spnn
