#include <spnn/engine/engine.h>
#include <spnn/jobs/write_json.h>
#include <spnn/core/rng.h>
#include <spnn/core/svg.h>
#include <spnn/networks/spnn.h>
#include <spnn/operators/composed_operator.h>
#include <spnn/operators/dense_operator.h>
#include <spnn/projection/minimal_norm.h>
#include <spnn/projection/spnn_projector.h>

#include <fmt/format.h>

#include <cmath>

namespace spnn::engine {
namespace {

constexpr double kMu = 20;   // of the coordinate change φ, μ-law companding

struct SmallMap {
  std::string name;
  std::vector<std::int64_t> sizes;
  std::function<Tensor(const Tensor&)> g;
  std::function<Tensor(const Tensor&)> natural;   // of y
};

SmallMap linear_map(const Tensor& A) {
  auto op = std::make_shared<DenseOperator>(A, Shape{A.size(1), 1, 1});
  return {fmt::format("linear, {} to {}", A.size(1), A.size(0)), {1, A.size(1)},
          [A](const Tensor& x) { return torch::linear(x, A); }, [op](const Tensor& y) { return op->pinv(y).flatten(1); }};
}

SmallMap companded_map(const Tensor& A) {
  auto phi = std::make_shared<CompandingCurve>(kMu);
  auto op = std::make_shared<ComposedOperator>(std::make_shared<DenseOperator>(A, Shape{A.size(1), 1, 1}), phi);
  return {fmt::format("linear after companding, {} to {}", A.size(1), A.size(0)), {1, A.size(1)},
          [A, phi](const Tensor& x) { return torch::linear(phi->forward(x), A); },
          [op](const Tensor& y) { return op->pinv(y).flatten(1); }};
}

SmallMap network_map(const Rng& rng) {
  const Json net{{"kind", "conv"}, {"hidden", 16}, {"kernel", 1}, {"activation", "silu"}};
  const Json block{{"kind", "surjection"}, {"out", 6}, {"st", net}, {"r", net}};
  auto last = block;
  last["out"] = 3;
  auto spnn = std::make_shared<Spnn>(spnn_from_json({{"name", "small"}, {"input", {12}}, {"blocks", {block, last}}}));
  randomise_spnn(*spnn, rng);
  spnn->to(torch::kFloat64);
  for (auto& parameter : spnn->parameters()) parameter.requires_grad_(false);
  auto projector = std::make_shared<SpnnProjector>(spnn, SpnnProjectorConfig{.pseudo_inverse = PseudoInverse::origin});
  return {"SPNN with random weights, 12 to 3", {1, 12}, [spnn](const Tensor& x) { return spnn->forward(x); },
          [projector](const Tensor& y) { return projector->pinv(y); }};
}

double largest(const Tensor& v) { return v.abs().max().item<double>(); }

InversesReport::Row compared(const SmallMap& map, const Rng& rng) {
  const torch::NoGradGuard no_grad;
  const auto y = map.g(0.4 * rng.randn(map.sizes, torch::kFloat64));   // in the range
  const auto natural = map.natural(y);
  const auto found = minimal_norm_inverse(map.g, y, map.sizes, {.tolerance = 1e-8, .starts = 3, .start_scale = 0.5}, {natural});
  return {.map = map.name, .minimal = found.norm, .natural = natural.norm().item<double>(),
          .distance = (found.x - natural).norm().item<double>(), .residual_minimal = found.residual,
          .residual_natural = largest(map.g(natural) - y)};
}

// ------------------------------------------------------------------ the figure: x in the plane, g(x) = a·φ(x)

constexpr double kSide = 320, kMargin = 34;

// The square [−1, 1]² of one map.
class Square {
 public:
  Square(Svg& svg, double left, const std::string& title) : svg_(svg), left_(left) {
    svg.text(left + kMargin, 22, title, "font-weight=\"bold\"").rect(left + kMargin, kMargin, kSide, kSide, "fill=\"none\" stroke=\"#999\"");
  }
  void curve(const Tensor& points, std::string_view style) { svg_.polyline(places(points), style); }
  void dots(const Tensor& points, std::string_view colour) {
    for (const auto& [x, y] : places(points)) svg_.dot(x, y, colour);
  }

 private:
  Svg::Points places(const Tensor& points) const {   // [N, 2]; those inside
    Svg::Points out;
    for (std::int64_t i = 0; i < points.size(0); ++i) {
      const double a = points[i][0].item<double>(), b = points[i][1].item<double>();
      if (std::abs(a) <= 1 && std::abs(b) <= 1) out.emplace_back(left_ + kMargin + (a + 1) / 2 * kSide, kMargin + (1 - b) / 2 * kSide);
    }
    return out;
  }

  Svg& svg_;
  double left_;
};

void panel(Svg& svg, const SmallMap& map, const Tensor& a, const ToneCurve* phi, double left, const std::string& title) {
  const torch::NoGradGuard no_grad;
  Square out(svg, left, title);
  const auto inverse = [&](const Tensor& u) { return phi ? phi->inverse(u) : u; };
  const auto forward = [&](const Tensor& x) { return phi ? phi->forward(x) : x; };
  std::vector<Tensor> naturals, minimals;
  for (const double y : {-0.9, -0.6, -0.3, 0.3, 0.6, 0.9}) {
    const auto first = torch::linspace(-1, 1, 201, torch::kFloat64);
    const auto second = inverse((y - a[0][0] * forward(first)) / a[0][1]);
    out.curve(torch::stack({first, second}, 1), "stroke=\"#ccc\"");
    const auto target = torch::full({1, 1}, y, torch::kFloat64);
    naturals.push_back(map.natural(target)[0]);
    minimals.push_back(minimal_norm_inverse(map.g, target, {1, 2}, {.tolerance = 1e-8, .starts = 8, .start_scale = 0.5},
                                            {naturals.back().unsqueeze(0)}).x[0]);
  }
  out.curve(torch::stack(naturals), "stroke=\"#1f77b4\" stroke-width=\"1.5\"");
  out.curve(torch::stack(minimals), "stroke=\"#d62728\" stroke-width=\"1.5\" stroke-dasharray=\"5,4\"");
  out.dots(torch::stack(naturals), "#1f77b4");
  out.dots(torch::stack(minimals), "#d62728");
}

std::string figure() {
  const auto a = torch::tensor({0.5, 1.0}, torch::kFloat64).view({1, 2});
  const CompandingCurve phi(kMu);
  Svg svg(2 * (kSide + kMargin) + kMargin, kSide + 2 * kMargin + 16);
  svg.paper();
  panel(svg, linear_map(a), a, nullptr, 0, "g(x) = x1/2 + x2: the two agree");
  panel(svg, companded_map(a), a, &phi, kSide + kMargin, "g(x) = φ(x1)/2 + φ(x2): they part");
  const double below = kSide + 2 * kMargin;
  svg.text(kMargin, below, "natural inverse", "fill=\"#1f77b4\"").text(kMargin + 110, below, "minimal norm (dashed)", "fill=\"#d62728\"");
  svg.text(kMargin + 260, below, "level sets of g", "fill=\"#888\"");
  return svg.str();
}

}  // namespace

InversesReport Engine::compare_inverses(const InversesJob& job, Observer& observer) {
  const Rng rng(job.seed);
  InversesReport report;
  const auto A = rng.fork(0).randn({3, 8}, torch::kFloat64);
  std::uint64_t k = 1;
  for (const auto& map : {linear_map(A), companded_map(A), network_map(rng.fork(9))}) {
    report.rows.push_back(compared(map, rng.fork(k++)));
    observer.progress(static_cast<std::int64_t>(report.rows.size()), 3, map.name);
  }
  if (!job.output.empty()) write_text_atomically(job.output, figure());
  Json rows = Json::array();
  for (const auto& r : report.rows) {
    rows.push_back({{"map", r.map}, {"minimal", r.minimal}, {"natural", r.natural}, {"distance", r.distance},
                    {"residual_minimal", r.residual_minimal}, {"residual_natural", r.residual_natural}});
  }
  write_json(job.json, {{"seed", job.seed}, {"rows", rows}});
  return report;
}

}  // namespace spnn::engine
