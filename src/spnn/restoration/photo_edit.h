#pragma once

#include <spnn/restoration/carried_move.h>

#include <optional>

namespace spnn {

// From how much noise a place is drawn again: σ = noise × a², where a is how strong the move is there ([−1, 1], nine tenths of the place are moved
// by less) and σ = √((1 − ᾱ)/ᾱ). A dark bar that is to become glasses is forgotten, a wrinkle is kept. Of a place that is more than 0.3 of the
// picture less is forgotten, by as much as it is larger: hair that is to be blond stays the hair that it is.
struct RedrawConfig {
  double noise = 12;                        // 0: moves are not drawn again
  std::optional<std::int64_t> time = {};    // … from this time, whatever the move
};

struct PhotoEditConfig {
  SpinConfig spin = {};
  CarryConfig carry = {};
  RedrawConfig redraw = {};
};

// A photo moved to where g says what `aim` asks for (carried_move.h), and then drawn again in `place` ([1 or B, 1, H, W] in [0, 1]; undefined: where
// the move changed it), from a time that suits the move, moved at every step until the wish is met. Outside of the place the photo is held, or the
// moved photo, where what is asked for cannot be had in the place alone: of both pictures the one that is nearer to the photo is taken.
//   ensures: g says what was asked for, as after carried_move. Row i depends on photo i and seed i only.
SpunMove edit_photo(const Denoiser& prior, const BackProjector& g, const Tensor& photo, const Target& aim, const Tensor& place, const PhotoEditConfig& config,
                    const SamplerConfig& sampler, const ImageSeeds& seeds, Observer& observer);

// The times, multiples of 100 unless one is given, that moves photo → moved are drawn again from: [B] int64. 0: not at all.
Tensor redraw_times(const Schedule& schedule, const Tensor& photo, const Tensor& moved, const Tensor& place, const RedrawConfig& config);

}  // namespace spnn
