// DiffPIR, ΠGDM, DAPS, RED-diff, MPGD and nlbp+ on Gaussian images: the posterior where a method is exact, else the law of its own
// equations and the bias that follows from it.

#include <gtest/gtest.h>
#include <spnn/restoration/evidence.h>
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

constexpr Shape kTodayShape{1, 4, 4};
constexpr std::int64_t kRuns = 300;
constexpr double kSpread = 0.4;   // σ0 of the pixels

struct Today {
  explicit Today(const std::string& spec, double noise = 0) : g(make_degradation({.spec = spec}, kTodayShape)), sigma_y(2 * noise) {
    const auto x = Rng(5).randn(kTodayShape.batched(1)) * kSpread;
    y = g.in_range(g.g->forward(x) + sigma_y * Rng(6).randn(g.g->forward(x).sizes()));
    S = g.linear->S()[0];
    seen = S > 0;
    y_bar = g.linear->Vt(g.linear->pinv(y))[0].to(torch::kFloat64);
  }
  Problem problem(const Denoiser& prior) const {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(y.dim()), -1);
    rows[0] = kRuns;
    return {.prior = prior, .g = g, .y = y.expand(rows), .sigma_y = sigma_y, .seeds = ImageSeeds(100, kRuns)};
  }
  Tensor coordinates(const std::string& method, const Denoiser& prior, const MethodConfig& config) const {
    Observer silent;
    return g.linear->Vt(restore_by(method, problem(prior), config, silent)).to(torch::kFloat64);
  }

  Degradation g;
  double sigma_y;
  Tensor y, S, seen, y_bar;
};

struct Moments {
  Tensor mean, variance;   // [n], one coordinate each
  explicit Moments(const Tensor& v) : mean(v.mean(0)), variance(v.var(0)) {}
  Moments(Tensor m, Tensor s) : mean(std::move(m)), variance(std::move(s)) {}
  // v_s = a·v_t + b + √w·z
  void step(const Tensor& a, const Tensor& b, const Tensor& w) { mean = a * mean + b, variance = a.square() * variance + w; }
};

// χ² of the means over its degrees of freedom; and the mean ratio of variances.
void expect_moments(const Moments& found, const Moments& expected, const Tensor& where, double slack, const std::string& what) {
  const auto s = expected.variance.masked_select(where);
  const double n = static_cast<double>(s.numel());
  const double chi = ((found.mean - expected.mean).masked_select(where).square() / (s / kRuns)).mean().item<double>();
  EXPECT_LT(chi, 1 + 4 * std::sqrt(2 / n)) << what << ": means";
  EXPECT_NEAR((found.variance.masked_select(where) / s).mean().item<double>(), 1, 4 * std::sqrt(2 / (n * kRuns)) + slack) << what << ": variances";
}

const GaussianPrior pixels(kTodayShape, 0, kSpread);
const Schedule& law_schedule() { return pixels.schedule(); }
double shrink_at(std::int64_t t) {   // x̂0 = κ x_t
  const double a = law_schedule().alpha_bar(t);
  return std::sqrt(a) * kSpread * kSpread / (a * kSpread * kSpread + 1 - a);
}

// Where A†y hides or amplifies noise, and not.
TEST(FieldOfToday, DiffpirHasTheLawOfItsEquationsAndItsBias) {
  const Today s("gauss:sigma=0.7,cut=0.1", 0.1);
  const SamplerConfig sampler{.steps = 50, .clamp = false};
  const double lambda = 7, zeta = 0.3;
  const auto noise = torch::where(s.seen, s.sigma_y / torch::where(s.seen, s.S, torch::ones_like(s.S)), torch::full_like(s.S, INFINITY));
  const auto law = [&](const auto& weight_at) {
    Moments v(torch::zeros_like(s.S), torch::ones_like(s.S));
    const auto times = respaced(1000, sampler.steps);
    for (std::size_t i = times.size(); i-- > 0;) {
      const double a = law_schedule().alpha_bar(times[i]), a_s = i == 0 ? 1 : law_schedule().alpha_bar(times[i - 1]);
      const auto w = weight_at((1 - a) / a);
      const auto x0 = (1 - w) * shrink_at(times[i]), x0_y = w * s.y_bar;   // x̂0 = x0·v_t + x0_y
      const double keep = i == 0 ? 0 : std::sqrt((1 - a_s) * (1 - zeta) / (1 - a));
      v.step(x0 * (std::sqrt(a_s) - keep * std::sqrt(a)) + keep, x0_y * (std::sqrt(a_s) - keep * std::sqrt(a)),
             torch::full_like(s.S, i == 0 ? 0 : (1 - a_s) * zeta));
    }
    return v;
  };
  const auto prox = law([&](double sigma2) { return 1 / (1 + lambda * noise.square() / sigma2); });
  expect_moments(Moments(s.coordinates("diffpir", pixels, {.sampler = sampler})), prox, torch::ones_like(s.seen), 0.02, "diffpir");
  const auto pinv = law([&](double sigma2) { return s.seen.to(torch::kFloat64) / (1 + lambda * s.sigma_y * s.sigma_y / sigma2); });
  expect_moments(Moments(s.coordinates("diffpir-pinv", pixels, {.sampler = sampler})), pinv, torch::ones_like(s.seen), 0.02, "diffpir-pinv");
  // The bias: noise is put back in a share ζ, x̂0 is a mean, so that what nobody measured varies less than the prior has it.
  EXPECT_LT(prox.variance.masked_select(s.seen.logical_not()).mean().item<double>(), 0.95 * kSpread * kSpread);
}

TEST(FieldOfToday, PigdmHasTheLawOfItsEquationsAndItsBias) {
  const Today s("gauss:sigma=0.7,cut=0.1", 0.1);
  const SamplerConfig sampler{.steps = 50, .clamp = false};
  Moments v(torch::zeros_like(s.S), torch::ones_like(s.S));
  const auto times = respaced(1000, sampler.steps);
  for (std::size_t i = times.size(); i-- > 0;) {
    const auto to = i == 0 ? -1 : times[i - 1];
    const double a = law_schedule().alpha_bar(times[i]), a_s = law_schedule().alpha_bar(to), kappa = shrink_at(times[i]);
    const auto k = reverse_coefficients(sampler, law_schedule(), times[i], to);
    const auto w = s.S.square() * (1 - a) / (s.S.square() * (1 - a) + s.sigma_y * s.sigma_y) * (kappa * std::sqrt(a * a_s));
    v.step(k.c0 * kappa + k.ct - w * kappa, w * s.y_bar, torch::full_like(s.S, k.sigma * k.sigma));
  }
  const Moments found(s.coordinates("pigdm", pixels, {.sampler = sampler}));
  expect_moments(found, v, torch::ones_like(s.seen), 0.02, "pigdm");
  const auto precision = 1 / (kSpread * kSpread) + s.S.square() / (s.sigma_y * s.sigma_y);
  const auto posterior = s.S.square() * s.y_bar / (s.sigma_y * s.sigma_y) / precision;
  const auto off = [&](const Tensor& mean) { return (mean - posterior).masked_select(s.seen).norm().item<double>(); };
  EXPECT_LT(off(found.mean), off(torch::zeros_like(posterior))) << "nearer to the posterior's mean than the prior's mean is";
}

TEST(FieldOfToday, DapsHasTheLawOfItsEquationsWhereGIsLinear) {
  const Today s("gauss:sigma=0.7,cut=0.1", 0.1);
  const SamplerConfig sampler{.steps = 60, .clamp = false};
  const auto noise2 = torch::where(s.seen, (s.sigma_y / torch::where(s.seen, s.S, torch::ones_like(s.S))).square(), torch::full_like(s.S, INFINITY));
  const auto times = respaced(1000, 60);   // one evaluation per level: x̂0 is the prior's
  const double top = law_schedule().alpha_bar(times.back());
  Moments v(torch::zeros_like(s.S), torch::full_like(s.S, 1 / top));   // of x̃ = x_t/√ᾱ
  for (std::size_t i = times.size(); i-- > 0;) {
    const double a = law_schedule().alpha_bar(times[i]), r2 = (1 - a) / a, a_s = i == 0 ? 1 : law_schedule().alpha_bar(times[i - 1]);
    const auto w = r2 / (r2 + noise2);
    v.step((1 - w) * (shrink_at(times[i]) * std::sqrt(a)), w * s.y_bar, i == 0 ? torch::zeros_like(w) : r2 * (1 - w) + (1 - a_s) / a_s);
  }
  const Moments found(s.coordinates("daps", pixels, {.sampler = sampler, .more = {{"daps_ode", 1}}}));
  expect_moments(found, v, torch::ones_like(s.seen), 0.02, "daps");
}

// On white images the sample of p(x0 | x̂0, y) is that of the posterior, by both ways.
TEST(FieldOfToday, DapsLangevinStepsSampleWhatTheClosedFormDoes) {
  const Today s("denoise", 0.1);
  const auto p = s.problem(pixels);
  const field::Decoupled at{.x0_hat = torch::full(kTodayShape.batched(kRuns), 0.1), .r = 0.3, .draw = 7};
  const double beta2 = s.sigma_y * s.sigma_y, r2 = at.r * at.r, w = r2 / (r2 + beta2);
  const Moments expected(0.1 + w * (s.y_bar - 0.1), torch::full_like(s.y_bar, r2 * (1 - w)));
  const auto in_coordinates = [&](const Tensor& x) { return Moments(s.g.linear->Vt(x).to(torch::kFloat64)); };
  expect_moments(in_coordinates(field::decoupled_exactly(p, {}, at)), expected, s.seen, 0.02, "closed form");
  const double step = 0.1;   // Langevin steps of η inflate the variance by 1/(1 − η/2)
  expect_moments(in_coordinates(field::decoupled_by_langevin(p, {.more = {{"daps_step", step}}}, at)), expected, s.seen, step / 2 / (1 - step / 2) + 0.03,
                 "Langevin");
}

// A mode seeker: from A†y it stays near y where y is seen, and all runs end near one image.
TEST(FieldOfToday, RedDiffHasAlmostNoSpread) {
  const Today s("random:0.5");
  const Moments found(s.coordinates("red-diff", pixels, {.sampler = {.steps = 200, .clamp = false}, .more = {{"reddiff_rate", 0.02}}}));
  EXPECT_LT(found.variance.max().item<double>(), 0.25 * kSpread * kSpread) << "the posterior has σ0² where nothing is seen";
  const auto off = [&](const Tensor& mean) { return (mean - s.y_bar).masked_select(s.seen).norm().item<double>(); };
  EXPECT_LT(off(found.mean), 0.35 * off(torch::zeros_like(found.mean)));
}

TEST(FieldOfToday, MpgdLeavesTheUnseenPartAndMeetsTheSeenOne) {
  const Today s("random:0.5");
  const Moments found(s.coordinates("mpgd", pixels, {.sampler = {.kind = SamplerKind::ddim, .steps = 150, .clamp = false}, .more = {{"mpgd_step", 500}}}));
  expect_moments(found, {torch::zeros_like(s.S), torch::full_like(s.S, kSpread * kSpread)}, s.seen.logical_not(), 0.03, "mpgd, unseen");
  EXPECT_THAT(found.mean.masked_select(s.seen), TensorNear(s.y_bar.masked_select(s.seen), 1e-3)) << "long steps are cut to Polyak's";
}

// Correlated pixels, half of them seen, no noise: where nlbp (ddnm) is biased, conjugate gradients of as many steps as there are
// measurements make x̂0 the mean given x_t and y, and every sample one of the posterior. One step is most of the way.
TEST(FieldOfToday, NlbpPlusIsThePosteriorOfCorrelatedPixelsWhereNlbpIsBiased) {
  const auto prior = CorrelatedPrior::smooth(kTodayShape, 0, kSpread, 2);
  const Today s("random:keep=0.5,seed=2");
  const auto unseen = s.seen.logical_not(), u = unseen.nonzero().squeeze(1), k = s.seen.nonzero().squeeze(1);
  const auto C = prior.covariance();
  const auto block = [&](const Tensor& rows, const Tensor& columns) { return C.index_select(0, rows).index_select(1, columns); };
  const auto gain = block(u, k).mm(at::linalg_inv(block(k, k)));
  auto mean = torch::zeros_like(s.S), variance = torch::ones_like(s.S);
  mean.index_copy_(0, u, gain.mv(s.y_bar.index_select(0, k)));
  variance.index_copy_(0, u, (block(u, u) - gain.mm(block(k, u))).diagonal());
  const Moments posterior(mean, variance);
  const SamplerConfig flow{.kind = SamplerKind::ddim, .steps = 150, .clamp = false};
  const auto by = [&](const std::string& method, double corrections) {
    return Moments(s.coordinates(method, prior, {.sampler = flow, .more = {{"plus_corrections", corrections}, {"plus_reach", 1e5}, {"plus_fresh", 0}}}));
  };
  const auto full = by("nlbp+", 8), one = by("nlbp+", 1), none = by("nlbp", 0);
  expect_moments(full, posterior, unseen, 0.05, "nlbp+, eight corrections");
  const auto error = [&](const Moments& m) { return (m.mean - posterior.mean).masked_select(unseen).norm().item<double>(); };
  EXPECT_LT(error(one), 0.6 * error(none)) << "against " << error(none);
  EXPECT_THAT(one.mean.masked_select(s.seen), TensorNear(s.y_bar.masked_select(s.seen), 1e-4));
}

// The same with noise, on a blur: x̂0 + C Aᵀ(A C Aᵀ + σ²)⁻¹(y − A x̂0), whatever Trust takes for the variance of each direction. Without
// corrections that variance is all there is, and correlated pixels make it wrong.
TEST(FieldOfToday, NlbpPlusIsThePosteriorOfNoisyMeasurements) {
  const auto prior = CorrelatedPrior::smooth(kTodayShape, 0, kSpread, 2);
  const Today s("gauss:sigma=0.8,cut=0.01", 0.05);
  const auto C = prior.covariance(), A = matrix_of(*s.g.linear), noise = torch::eye(16, torch::kFloat64) * (s.sigma_y * s.sigma_y);
  const auto gain = C.mm(A.t()).mm(at::linalg_inv(A.mm(C).mm(A.t()) + noise));
  const auto V = s.g.linear->Vt(torch::eye(16, torch::kFloat64).view({16, 1, 4, 4})).t();   // [coordinate, pixel]
  const Moments posterior(V.mv(gain.mv(s.y.flatten().to(torch::kFloat64))), (V.mm(C - gain.mm(A).mm(C)).mm(V.t())).diagonal().clone());
  const SamplerConfig flow{.kind = SamplerKind::ddim, .steps = 150, .clamp = false};
  const auto by = [&](double corrections) {
    return Moments(s.coordinates("nlbp+", prior, {.sampler = flow, .more = {{"plus_corrections", corrections}, {"plus_reach", 1e5}, {"plus_fresh", 0}}}));
  };
  const auto full = by(16), one = by(1), none = by(0);
  expect_moments(full, posterior, torch::ones_like(s.seen), 0.06, "nlbp+ with noise, sixteen corrections");
  const auto error = [&](const Moments& m) { return (m.mean - posterior.mean).norm().item<double>(); };
  EXPECT_LT(error(one), error(none)) << "against " << error(none);
}

// What JPEG leaves open is an interval: the mean of a normal distribution cut to it, against sums over a fine grid.
TEST(FieldOfToday, CutNormalsAreThoseOfTheIntegral) {
  const auto grid = torch::linspace(-0.5, 0.5, 20001, torch::kFloat64);
  for (const double mean : {-40.0, -3.0, -0.6, -0.2, 0.0, 0.45, 2.0, 40.0}) {
    for (const double deviation : {0.01, 0.2, 1.0, 30.0}) {
      const auto power = -((grid - mean) / deviation).square() / 2;
      const auto weight = torch::softmax(power, 0);
      const double m = (weight * grid).sum().item<double>(), v = (weight * (grid - m).square()).sum().item<double>();
      const auto cut = field::cut_to_unit(torch::tensor({mean}, torch::kFloat64), torch::tensor({deviation * deviation}, torch::kFloat64));
      EXPECT_NEAR(cut.mean.item<double>(), m, 2e-4) << mean << ", " << deviation;
      EXPECT_NEAR(cut.variance.item<double>(), v, 2e-4 + 1e-3 * v) << mean << ", " << deviation;
    }
  }
}

// Coefficients by themselves, of pictures whose covariance L C Lᵀ is diagonal: then one site is exact but for the shape, and g(x̂) = y.
TEST(FieldOfToday, NlbpPlusStaysInsideOfJpegsIntervals) {
  constexpr Shape shape{1, 8, 8};
  const GaussianPrior prior(shape, 0, kSpread);
  const auto g = make_degradation({.spec = "jpeg:20"}, shape);
  const auto x = Rng(3).randn(shape.batched(2)) * kSpread;
  Observer silent;
  const auto made = restore_by("nlbp+", {.prior = prior, .g = g, .y = g.g->forward(x), .seeds = ImageSeeds(0, 2)}, {.sampler = {.steps = 20, .clamp = false}}, silent);
  EXPECT_LT(g.inconsistency(made, g.g->forward(x)).max().item<double>(), 1e-5);
  ASSERT_TRUE(g.rounding);
  const auto w = Rng(4).randn({1, 1, 1, 8, 1, 8}), v = Rng(5).randn(shape.batched(1));
  EXPECT_NEAR((g.rounding->scaled(v) * w).sum().item<double>(), (g.rounding->adjoint(w) * v).sum().item<double>(), 1e-2);
  EXPECT_THAT(g.rounding->unscaled(g.rounding->scaled(v)), TensorNear(v, 1e-4));
  EXPECT_THAT(g.rounding->gains().flatten()[0], TensorNear(g.rounding->adjoint(torch::eye(64).view({64, 1, 1, 8, 1, 8}))[0].norm().to(torch::kFloat64), 1e-2));
}

TEST(FieldOfToday, NlbpPlusWithoutCorrectionsIsNlbp) {
  const auto prior = CorrelatedPrior::smooth(kTodayShape, 0, kSpread, 2);
  for (const auto kind : {SamplerKind::ddpm, SamplerKind::ddim, SamplerKind::dpm}) {
    const Today s("sr2");
    const MethodConfig config{.sampler = {.kind = kind, .steps = 20}, .more = {{"plus_corrections", 0}, {"plus_fresh", 0}}};
    EXPECT_THAT(s.coordinates("nlbp+", prior, config), TensorNear(s.coordinates("nlbp", prior, config), 1e-4));
  }
}

TEST(FieldOfToday, TheBestRestartIsKeptImageByImage) {
  const Today s("denoise", 0.1);
  Observer silent;
  const auto p = s.problem(pixels);
  const auto error = [&](double restarts) {
    return p.g.inconsistency(restore_by("dps", p, {.sampler = {.steps = 5, .clamp = false}, .more = {{"restarts", restarts}}}, silent), p.y);
  };
  const auto one = error(1), three = error(3);
  EXPECT_TRUE((three <= one + 1e-7).all().item<bool>());
  EXPECT_LT(three.mean().item<double>(), one.mean().item<double>());
}

}  // namespace
}  // namespace spnn
