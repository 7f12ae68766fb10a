// Every method on Gaussian images, where the posterior is known. Where a method is exact there, its samples must have the
// posterior's mean and variance within sampling error; where not, the bias is the one that its own equations predict.

#include <gtest/gtest.h>
#include <spnn/restoration/field.h>

#include <ATen/ops/linalg_inv.h>

#include "support/correlated_prior.h"
#include "support/gaussian_prior.h"
#include "support/tensor_near.h"

namespace spnn {
namespace {

using testing::CorrelatedPrior;
using testing::GaussianPrior;
using testing::TensorNear;

constexpr Shape kLawShape{1, 4, 4};
constexpr std::int64_t samples = 300;
constexpr double sigma0 = 0.4;

// Mean and variance of every coordinate of Vᵀx.
struct Law {
  Tensor mean, variance;   // [n]
};

Law law_of(const Tensor& v) { return {v.mean(0).to(torch::kFloat64), v.var(0).to(torch::kFloat64)}; }

// χ² of the means over its degrees of freedom, 1 ± √(2/n); and the mean ratio of variances, 1 ± √(2/(n·samples)). A method
// with a known bias may have means that are off by `bias` standard deviations, and variances by `slack`.
void expect_law(const Law& found, const Law& expected, const Tensor& where, double slack, const std::string& what, double bias = 0) {
  const auto mean = found.mean.masked_select(where), variance = found.variance.masked_select(where);
  const auto m = expected.mean.masked_select(where), s = expected.variance.masked_select(where);
  const double n = static_cast<double>(mean.numel());
  const double chi = ((mean - m).square() / (s / samples)).mean().item<double>();
  EXPECT_LT(chi, 1 + 4 * std::sqrt(2 / n) + samples * bias * bias) << what << ": means";
  const double ratio = (variance / s).mean().item<double>();
  EXPECT_NEAR(ratio, 1, 4 * std::sqrt(2 / (n * samples)) + slack) << what << ": variances";
}

struct Setting {
  explicit Setting(const std::string& spec, double noise = 0) : g(make_degradation({.spec = spec}, kLawShape)), sigma_y(2 * noise) {
    const auto x = Rng(5).randn(kLawShape.batched(1)) * sigma0;
    y = g.in_range(g.g->forward(x) + sigma_y * Rng(6).randn(g.g->out_shape().batched(1)).reshape_as(g.g->forward(x)));
  }
  Tensor coordinates(const std::string& method, const Denoiser& prior, const MethodConfig& config) const {
    Observer silent;
    std::vector<std::int64_t> rows(static_cast<std::size_t>(y.dim()), -1);
    rows[0] = samples;
    const auto x = restore_by(method, {.prior = prior, .g = g, .y = y.expand(rows), .sigma_y = sigma_y, .seeds = ImageSeeds(100, samples)}, config, silent);
    return g.linear->Vt(x);
  }
  Tensor S() const { return g.linear->S()[0]; }
  Tensor seen() const { return S() > 0; }
  Tensor y_bar() const { return (g.linear->Vt(g.linear->pinv(y))[0]).to(torch::kFloat64); }
  // of coordinates that are N(0, σ0²) a priori
  Law posterior() const {
    const auto precision = 1 / (sigma0 * sigma0) + S().square() / (sigma_y * sigma_y);
    return {S().square() * y_bar() / (sigma_y * sigma_y) / precision, 1 / precision};
  }
  Law prior() const { return {torch::zeros_like(S()), torch::full_like(S(), sigma0 * sigma0)}; }

  Degradation g;
  double sigma_y;
  Tensor y;
};

const GaussianPrior white(kLawShape, 0, sigma0);
// DDIM maps Gaussians on Gaussians exactly as its steps get small; DDPM's fixed-small variance does not before 1000 steps.
const SamplerConfig exact{.kind = SamplerKind::ddim, .steps = 150, .clamp = false};

// Independent coordinates, no noise: what is seen is known, the rest is the prior's. All of these are exact.
TEST(GaussianPosterior, WithoutNoiseTheUnseenPartIsThePriors) {
  for (const auto* method : {"nlbp", "ddnm", "ddnm+", "mcg", "repaint"}) {
    const Setting s("random:0.5");
    MethodConfig config{.sampler = exact};
    config.repaint = {.length = 10, .repeat = 2};
    const auto v = s.coordinates(method, white, config);
    expect_law(law_of(v), s.prior(), s.seen().logical_not(), 0.03, method);
    EXPECT_THAT(v.masked_select(s.seen()).reshape({samples, -1}).select(0, 0).to(torch::kFloat64),
                TensorNear(s.y_bar().masked_select(s.seen()), 1e-4)) << method;
  }
}

// White pixels under noise of a known size: the weights of Trust are the exact ones, so every sample is one of the posterior.
TEST(GaussianPosterior, NlbpIsExactWithNoiseWhereThePriorIsWhite) {
  Setting s("denoise", 0.05);
  s.g.fitted = std::make_shared<FittedTo>(FittedTo{Reduction("pool:2", kLawShape), {}, {.error = {0}, .signal = {sigma0 * sigma0}}});   // T is not looked at
  // The posterior is narrower than the prior, and the last of DDIM's steps have to be short beside it.
  const auto found = law_of(s.coordinates("nlbp", white, {.sampler = {.kind = SamplerKind::ddim, .steps = 1000, .clamp = false}}));
  expect_law(found, s.posterior(), s.seen(), 0.05, "nlbp, seen");
  const auto strict = law_of(s.coordinates("nlbp", white, {.sampler = exact, .exact = true}));
  EXPECT_THAT(strict.mean.masked_select(s.seen()), TensorNear(s.y_bar().masked_select(s.seen()), 1e-4)) << "--exact restores the noise too";
}

// Blurred and noisy: in singular directions, with a variance of x estimated from y. What is drowned stays with the prior.
TEST(GaussianPosterior, NlbpWeighsSingularDirectionsByTheirNoise) {
  const Setting s("gauss:sigma=0.7,cut=0.1", 0.1);
  const auto found = law_of(s.coordinates("nlbp", white, {.sampler = exact}));
  const auto posterior = s.posterior();
  const auto distance = [&](const Tensor& mean) { return (mean - posterior.mean).masked_select(s.seen()).norm().item<double>(); };
  EXPECT_LT(distance(found.mean), 0.5 * distance(s.prior().mean));
  EXPECT_LT(distance(found.mean), 0.2 * distance(s.y_bar()));
  expect_law(found, s.prior(), s.seen().logical_not(), 0.03, "nlbp, unseen");
}

// With η = 0 DDRM follows the flow of the prior: exact. With the paper's 0.85 see below.
TEST(GaussianPosterior, DdrmIsExactWithoutNoiseAndWithoutItsEta) {
  const Setting s("random:0.5");
  const auto v = s.coordinates("ddrm", white, {.sampler = {.steps = 200, .clamp = false}, .eta = 0});
  expect_law(law_of(v), s.prior(), s.seen().logical_not(), 0.03, "ddrm");
}

// Annealed Langevin steps reach the posterior itself, noise and all, as the step gets small; a step of c·α inflates the
// variance by up to 1/(1 − c/2), and 900 of them leave the means 0.2 standard deviations behind.
TEST(GaussianPosterior, SnipsSamplesItWithNoise) {
  const Setting s("gauss:sigma=0.7,cut=0.1", 0.1);
  const double c = 0.1;
  const auto v = s.coordinates("snips", white, {.sampler = {.steps = 900, .clamp = false}, .langevin = 18, .langevin_step = c});
  expect_law(law_of(v), s.posterior(), s.seen(), c / 2 / (1 - c / 2) + 0.02, "snips, seen", 0.2);
  expect_law(law_of(v), s.prior(), s.seen().logical_not(), c / 2 / (1 - c / 2) + 0.02, "snips, unseen");
}

// v_s = a·v_t + b + √w·z, one coordinate at a time.
class Recursion {
 public:
  Recursion(Tensor mean, Tensor variance) : law_{std::move(mean), std::move(variance)} {}
  void step(const Tensor& a, const Tensor& b, const Tensor& w) { law_ = {a * law_.mean + b, a.square() * law_.variance + w}; }
  const Law& law() const { return law_; }

 private:
  Law law_;
};

// DDNM+ is a Gaussian for a Gaussian prior: the code must have the mean and variance of its own equations. Known bias: it
// trusts y wherever the sampler's noise covers that of y, so the seen part lies nearer to A†y than the posterior's does.
TEST(GaussianPosterior, DdnmPlusHasTheLawOfItsEquationsAndItsBias) {
  const Setting s("gauss:sigma=0.7,cut=0.1", 0.1);
  const SamplerConfig sampler{.steps = 100, .clamp = false};
  const auto S = s.S().masked_select(s.seen()), y = s.y_bar().masked_select(s.seen());
  Recursion seen(torch::zeros_like(S), torch::ones_like(S));
  const auto times = respaced(1000, 100);
  for (std::size_t i = times.size(); i-- > 0;) {
    const auto t = times[i], to = i == 0 ? -1 : times[i - 1];
    const auto k = reverse_coefficients(sampler, white.schedule(), t, to);
    const double a = white.schedule().alpha_bar(t), kappa = std::sqrt(a) * sigma0 * sigma0 / (a * sigma0 * sigma0 + 1 - a);
    const auto carried = k.c0 * s.sigma_y / S;
    const auto lambda = torch::minimum(torch::ones_like(S), k.sigma / carried);
    seen.step(k.c0 * (1 - lambda) * kappa + k.ct, k.c0 * lambda * y, (k.sigma * k.sigma - (lambda * carried).square()).clamp_min(0));
  }
  const auto found = law_of(s.coordinates("ddnm+", white, {.sampler = sampler}));
  Law expected = s.prior();
  expected.mean = expected.mean.masked_scatter(s.seen(), seen.law().mean);
  expected.variance = expected.variance.masked_scatter(s.seen(), seen.law().variance);
  expect_law(found, expected, s.seen(), 0.02, "ddnm+ against its recursion");

  const auto posterior = s.posterior();
  const auto shrink = [&](const Tensor& mean) { return (mean.masked_select(s.seen()) / y).mean().item<double>(); };
  EXPECT_GT(shrink(found.mean), shrink(posterior.mean)) << "nearer to A†y than the posterior mean";
  // Where noise drowns the signal (σ_y/S > σ0) it is even farther from the posterior's mean than the prior's mean is.
  const auto distance = [&](const Tensor& mean, const Tensor& where) { return (mean - posterior.mean).masked_select(where).norm().item<double>(); };
  const auto drowned = s.seen() & (s.sigma_y > s.S() * sigma0), heard = s.sigma_y < s.S() * sigma0;
  EXPECT_GT(distance(found.mean, drowned), distance(s.prior().mean, drowned));
  EXPECT_LT(distance(found.mean, heard), distance(s.prior().mean, heard));
}

// DDRM likewise. Known bias with noise: below σ_y/S it holds on to x̂0 and A†y in proportions fixed by η, and the last step
// returns x̂0 itself: the variance of the seen part is too small. That of the unseen part is too: η draws fresh noise at every
// step, whatever its length, and x̂0 is a mean.
TEST(GaussianPosterior, DdrmHasTheLawOfItsEquationsAndItsBias) {
  const Setting s("gauss:sigma=0.7,cut=0.1", 0.1);
  const SamplerConfig sampler{.steps = 100, .clamp = false};
  const double eta = 0.85, keep = std::sqrt(1 - eta * eta);
  const auto S = s.S().masked_select(s.seen()), y = s.y_bar().masked_select(s.seen()), r = s.sigma_y / S;
  const auto level = [&](std::int64_t t) { const double a = white.schedule().alpha_bar(t); return std::sqrt((1 - a) / a); };
  const auto times = respaced(1000, 100);
  const double top = level(times.back());
  Recursion seen(y, top * top - r.square());   // of x̃ = x_t/√ᾱ
  const auto one = torch::ones({1}, torch::kFloat64);
  Recursion unseen(one * 0, one * top * top);
  for (std::size_t i = times.size(); i-- > 0;) {
    const double from = level(times[i]), to = i == 0 ? 0 : level(times[i - 1]);
    const double kappa = sigma0 * sigma0 / (sigma0 * sigma0 + from * from);
    const auto noisier = r > to;
    const auto pull = keep * to / r;
    seen.step(torch::where(noisier, (1 - pull) * kappa, torch::zeros_like(r)), torch::where(noisier, pull * y, y),
              torch::where(noisier, torch::full_like(r, eta * eta * to * to), (to * to - r.square()).clamp_min(0)));
    unseen.step(one * (kappa + keep * to / from * (1 - kappa)), one * 0, one * eta * eta * to * to);
  }
  const auto found = law_of(s.coordinates("ddrm", white, {.sampler = sampler}));
  Law expected = s.prior();
  expected.mean = expected.mean.masked_scatter(s.seen(), seen.law().mean);
  expected.variance = expected.variance.masked_scatter(s.seen(), seen.law().variance);
  expected.variance = torch::where(s.seen(), expected.variance, unseen.law().variance);
  expect_law(found, expected, s.seen(), 0.02, "ddrm against its recursion, seen");
  expect_law(found, expected, s.seen().logical_not(), 0.02, "ddrm against its recursion, unseen");
  EXPECT_LT(unseen.law().variance.item<double>(), 0.9 * sigma0 * sigma0);
  EXPECT_LT((found.variance / s.posterior().variance).masked_select(s.seen()).mean().item<double>(), 0.9);
}

// DPS: nothing pushes what y does not see, so that part is the prior's. The seen part is drawn towards y with a step of fixed
// length whatever σ_y is: nearer to the posterior's mean than to the prior's, but no sample of it.
TEST(GaussianPosterior, DpsLeavesTheUnseenPartAndApproachesTheSeenOne) {
  const Setting s("random:0.5", 0.05);
  const auto found = law_of(s.coordinates("dps", white, {.sampler = {.kind = SamplerKind::ddim, .steps = 150, .eta = 0, .clamp = false}, .gradient = 5}));
  expect_law(found, s.prior(), s.seen().logical_not(), 0.03, "dps, unseen");
  const auto posterior = s.posterior();
  const auto distance = [&](const Tensor& mean) { return (mean - posterior.mean).masked_select(s.seen()).norm().item<double>(); };
  EXPECT_LT(distance(found.mean), 0.5 * distance(s.prior().mean));
}

// Correlated pixels, half of them seen, no noise. DDNM puts A†y into x̂0 at every step, yet x_t tells the denoiser of y only as
// far as noise lets it, so the unseen part follows y less than the posterior's does: the mean falls short, the variance is
// too large. RePaint's time travel lets the unseen part hear of the seen one again and again, and is nearer.
TEST(GaussianPosterior, CorrelatedPixelsShowTheBiasOfNullSpaceMethods) {
  const auto prior = CorrelatedPrior::smooth(kLawShape, 0, sigma0, 2);
  const Setting s("random:keep=0.5,seed=2");
  const SamplerConfig sampler{.steps = 60, .clamp = false};
  const auto n = kLawShape.size();
  const auto eye = torch::eye(n, torch::kFloat64);
  const auto P = (s.S() == 0).to(torch::kFloat64).diag();   // pixels are the coordinates of a mask
  const auto y = s.y_bar();

  // The law of DDNM by its equations.
  auto mean = torch::zeros({n}, torch::kFloat64), covariance = eye.clone();
  const auto times = respaced(1000, sampler.steps);
  for (std::size_t i = times.size(); i-- > 0;) {
    const auto k = reverse_coefficients(sampler, prior.schedule(), times[i], i == 0 ? -1 : times[i - 1]);
    const auto M = k.c0 * P.mm(prior.gain(times[i])) + k.ct * eye;
    mean = M.mv(mean) + k.c0 * y;
    covariance = M.mm(covariance).mm(M.t()) + k.sigma * k.sigma * eye;
  }
  const auto found = law_of(s.coordinates("ddnm", prior, {.sampler = sampler}));
  const auto unseen = s.seen().logical_not();
  expect_law(found, {mean, covariance.diagonal()}, unseen, 0.02, "ddnm against its recursion");

  // The posterior: N(Σ_us Σ_ss⁻¹ y, Σ_uu − Σ_us Σ_ss⁻¹ Σ_su).
  const auto u = unseen.nonzero().squeeze(1), seen = s.seen().nonzero().squeeze(1);
  const auto C = prior.covariance();
  const auto block = [&](const Tensor& rows, const Tensor& columns) { return C.index_select(0, rows).index_select(1, columns); };
  const auto gain = block(u, seen).mm(at::linalg_inv(block(seen, seen)));
  const auto posterior_mean = gain.mv(y.index_select(0, seen));
  const auto posterior_variance = (block(u, u) - gain.mm(block(seen, u))).diagonal();
  const auto error = [&](const Law& law) { return ((law.mean.index_select(0, u) - posterior_mean).norm() / posterior_mean.norm()).item<double>(); };
  const auto spread = [&](const Law& law) { return (law.variance.index_select(0, u) / posterior_variance).mean().item<double>(); };
  const auto repainted = law_of(s.coordinates("repaint", prior, {.sampler = sampler, .repaint = {.length = 5, .repeat = 8}}));
  RecordProperty("ddnm_mean_error_percent", static_cast<int>(100 * error(found)));
  RecordProperty("repaint_mean_error_percent", static_cast<int>(100 * error(repainted)));
  EXPECT_LT(error(found), 0.6);
  EXPECT_LT(error(repainted), error(found) + 0.05);
  EXPECT_GT(spread(found), 0.5);
  EXPECT_LT(spread(found), 2.0);
}

TEST(GaussianPosterior, PinvAndBackProjectionKnowNoPrior) {
  const Setting s("gauss:sigma=0.7,cut=0.1", 0.1);
  for (const auto* method : {"pinv", "ibp"}) {
    const auto v = s.coordinates(method, white, {.iterations = 3000});
    EXPECT_THAT(v.select(0, 0).to(torch::kFloat64), TensorNear(s.y_bar(), 5e-3)) << method;
    EXPECT_EQ(law_of(v).variance.max().item<double>() < 1e-10, true) << method;
  }
}

}  // namespace
}  // namespace spnn
