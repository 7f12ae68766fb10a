#include <spnn/blocks/orthogonal_mix.h>
#include <spnn/projection/composed_projector.h>
#include <spnn/projection/nlbp.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/projection/verify.h>

#include <algorithm>

namespace spnn {
namespace {

constexpr double lambdas[] = {0.3, 1.0};

void widen(Residual& residual, const Tensor& found, const Tensor& expected) {
  const auto difference = (found - expected).to(torch::kFloat64).abs();
  const auto scale = 1 + expected.to(torch::kFloat64).abs();
  const auto largest = [](double a, double b) { return a >= b || std::isnan(a) ? a : b; };   // NaN stays
  residual.absolute = largest(residual.absolute, difference.max().item<double>());
  residual.relative = largest(residual.relative, (difference / scale).max().item<double>());
}

void widen(Residual& residual, const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  for (std::size_t l = 0; l < found.size(); ++l) widen(residual, found[l], expected[l]);
}

double largest_epsilon(const SpnnConfig& config) {
  double epsilon = 0;
  for (const auto& block : config.blocks) {
    if (const auto* c = std::get_if<SurjectionBlockConfig>(&block)) epsilon = std::max(epsilon, c->mix.epsilon);
    if (const auto* c = std::get_if<CouplingBlockConfig>(&block)) epsilon = std::max(epsilon, c->mix.epsilon);
  }
  return epsilon;
}

// View: SpnnProjector, or ComposedProjector around one.
template <class View>
class Verifier {
 public:
  template <class Make>
  Verifier(std::shared_ptr<const Spnn> net, Tensor x, Tensor y, const Make& make)
      : net_(std::move(net)), x_(std::move(x)), y_(std::move(y)),
        learned_(make({.pseudo_inverse = PseudoInverse::learned, .metric = Metric::plain})),
        origin_(make({.pseudo_inverse = PseudoInverse::origin, .metric = Metric::plain})),
        anchored_(make({.pseudo_inverse = PseudoInverse::anchored, .metric = Metric::residual})) {}

  Verification run() {
    for (const auto& view : {learned_, anchored_}) measure_identities(*view);
    measure_orthogonality();
    for (const auto& view : {learned_, origin_, anchored_}) measure_nlbp(*view);
    Verification out;
    out.residuals = {round_trip_, right_inverse_, penrose_1_, penrose_2_, orthogonality_, consistency_,
                     drift_plain_, drift_residual_};
    out.plain_drift_of_learned_r = learned_drift_.absolute;
    return out;
  }

 private:
  void measure_identities(const View& g) {
    const auto g_x = g.forward(x_);
    const auto back = g.pinv(y_);
    widen(round_trip_, g.invert(g.complete(x_)), x_);
    widen(right_inverse_, g.forward(back), y_);
    widen(penrose_1_, g.forward(g.pinv(g_x)), g_x);
    widen(penrose_2_, g.pinv(g.forward(back)), back);
  }

  void measure_orthogonality() {
    for (const auto& mix : mixes_of(*net_)) {
      const auto U = mix->matrix().to(torch::kFloat64);
      widen(orthogonality_, U.t().mm(U), torch::eye(U.size(0), U.options()));
    }
    orthogonality_.relative = orthogonality_.absolute;
  }

  void measure_nlbp(const View& g) {
    const bool plain = g.config().metric == Metric::plain;
    const bool constant = g.config().pseudo_inverse == PseudoInverse::origin;
    const auto before = g.complete(x_);
    const auto step = g.complete(g.pinv(y_)) - g.complete(g.pinv(before.y));
    for (const double lambda : lambdas) {
      const auto after = g.complete(g.nlbp(x_, y_, lambda));
      widen(consistency_, after.y, (1 - lambda) * before.y + lambda * y_);
      if (plain) {
        widen(drift_plain_, after.z, constant ? before.z : (before + lambda * step).z);
        if (!constant) widen(learned_drift_, after.z, before.z);
      } else {
        widen(drift_residual_, after.z, before.z);
      }
    }
  }

  std::shared_ptr<const Spnn> net_;
  Tensor x_, y_;
  std::shared_ptr<const View> learned_, origin_, anchored_;
  Residual round_trip_{.name = "round_trip"}, right_inverse_{.name = "right_inverse"},
      penrose_1_{.name = "penrose_1"}, penrose_2_{.name = "penrose_2"}, orthogonality_{.name = "orthogonality"},
      consistency_{.name = "nlbp_consistency"}, drift_plain_{.name = "null_drift_plain"},
      drift_residual_{.name = "null_drift_residual"}, learned_drift_{.name = "learned"};
};

}  // namespace

bool Verification::passed() const {
  return std::all_of(residuals.begin(), residuals.end(), [](const Residual& r) { return r.passed(); });
}

namespace {

Verification with_tolerances(Verification verification, const Spnn& net, bool in_double, const VerifyOptions& options) {
  // A reference network's U is orthogonal to 2ε only; every level passes that on, stretched by up to e².
  const double epsilon = largest_epsilon(net.config());
  const double tolerance =
      options.tolerance > 0 ? options.tolerance : std::max(in_double ? 1e-11 : 1e-4, 100 * epsilon);
  for (auto& residual : verification.residuals) {
    residual.tolerance = tolerance;
    if (residual.name == "orthogonality" && options.tolerance == 0) {
      residual.tolerance = (in_double ? 1e-13 : 1e-6) + 2.1 * epsilon;
    }
  }
  return verification;
}

}  // namespace

Verification verify_network(std::shared_ptr<const Spnn> net, const Tensor& x, const Tensor& y, const VerifyOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto make = [&](const SpnnProjectorConfig& config) { return std::make_shared<SpnnProjector>(net, config); };
  return with_tolerances(Verifier<SpnnProjector>(net, x, y, make).run(), *net, x.scalar_type() == torch::kFloat64, options);
}

Verification verify_composed(std::shared_ptr<const Spnn> net, std::shared_ptr<const LinearOperator> A, const Tensor& x, const Tensor& y,
                             const VerifyOptions& options) {
  const torch::NoGradGuard no_grad;
  const auto make = [&](const SpnnProjectorConfig& config) {
    return std::make_shared<ComposedProjector>(std::make_shared<SpnnProjector>(net, config), A);
  };
  return with_tolerances(Verifier<ComposedProjector>(net, x, y, make).run(), *net, x.scalar_type() == torch::kFloat64, options);
}

}  // namespace spnn
