#pragma once

#include <spnn/core/config.h>
#include <spnn/evaluation/agreement.h>
#include <spnn/evaluation/frechet.h>
#include <spnn/networks/judge.h>

#include <memory>

namespace spnn {

// What the judge makes of a set of images.
struct Opinion {
  Tensor logits;     // [N, A]
  Tensor features;   // [N, F]
};

// images: uint8 [N, C, H, W], in batches, on the judge's device; what comes back is on the CPU, where measuring is done.
Opinion opinion_on(const Judge& judge, const Tensor& images, std::int64_t batch = 64);

// What restored images are held against: real images the networks never trained on, and the prior left to itself.
struct Baseline {
  Tensor target;        // [N, A] the outputs that were asked for
  Opinion real;         // of the N images whose outputs these are
  Opinion unguided;     // of N samples of the prior
  Gaussian held_out;    // features of all held-out images
  double frechet_real = 0;    // N training images against the held-out ones: what sampling error alone gives
  double frechet_prior = 0;   // the N unguided samples
};

Baseline make_baseline(const Tensor& target, Opinion real, Opinion unguided, const Tensor& held_out_features,
                       const Tensor& train_features);

// What is measured of one way to restore N images.
struct RestorationMeasures {
  Agreement by_g;              // g on the saved images against the target
  Agreement by_judge;          // the judge on them
  double judge_real = 0;       // mean agreement of the judge on the real images
  double judge_prior = 0;      // … and of unguided samples, over all pairs of sample and target
  double transfer_score = 0;
  double frechet = 0, frechet_prior = 0, frechet_real = 0;
  double consistency_before = 0, consistency_after = 0;   // mean over images of √mean (g(x) − y)², before and after saving
  double seconds_per_image = 0;
  std::int64_t images = 0;
};

struct RestoredSet {
  Tensor y;                       // [N, A] g on the saved images
  Opinion opinion;
  double consistency_before = 0;
  double seconds_per_image = 0;
};

RestorationMeasures measure(Task task, const RestoredSet& set, const Baseline& baseline);

Json to_json(const RestorationMeasures& measures, const std::vector<std::string>& names);

}  // namespace spnn
