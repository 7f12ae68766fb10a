#pragma once

#include <cstdint>

namespace spnn::kernels {

// The vector code of group_norm.cpp: one group of one image, `channels` contiguous planes of `pixels` floats.
struct Group {
  std::int64_t channels, pixels;
  const float* weight;   // of the group's channels
  const float* bias;
  float mean, rstd;
  bool silu;
};

struct Moments {
  double mean, variance;
};

Moments group_moments(const float* x, std::int64_t count);

// y ← act(weight · (x − mean) · rstd + bias), act = SiLU or the identity.
void group_forward(const Group& group, const float* x, float* y);

// dx, and this image's part of the gradients of weight and bias.
void group_backward(const Group& group, const float* x, const float* dy, float* dx, float* dweight, float* dbias);

}  // namespace spnn::kernels
