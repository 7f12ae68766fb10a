#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/svg.h>
#include <spnn/data/table.h>
#include <spnn/training/plot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <vector>

namespace spnn {
namespace {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points = {};   // step, value
};

struct Panel {
  std::string title;
  std::vector<Curve> curves;
  bool logarithmic = false;
};

constexpr double kWidth = 420, kHeight = 220, kLeft = 58, kRight = 12, kTop = 30, kBottom = 34;
constexpr std::array colours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b"};

std::vector<Curve> read_curves(const std::filesystem::path& csv) {
  if (!std::filesystem::exists(csv)) return {};
  const auto rows = read_rows(read_text(csv), Separator::comma);
  require(!rows.empty() && rows.front().cells.front() == "step", csv.string(), "a first column 'step'",
          rows.empty() ? "nothing" : rows.front().cells.front());
  std::vector<Curve> curves;
  for (const auto& name : rows.front().cells) curves.push_back({name});
  for (const auto& [line, cells] : std::span(rows).subspan(1)) {
    require(cells.size() == curves.size(), fmt::format("{}:{}", csv.string(), line),
            fmt::format("{} cells", curves.size()), std::to_string(cells.size()));
    for (std::size_t i = 1; i < cells.size(); ++i) {
      curves[i].points.emplace_back(std::strtod(cells[0].c_str(), nullptr), std::strtod(cells[i].c_str(), nullptr));
    }
  }
  curves.erase(curves.begin());
  return curves;
}

struct Range {
  double low = INFINITY, high = -INFINITY;
  void take(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  void widen() {
    if (!(high > low)) high = low + std::max(1e-12, std::abs(low) * 1e-3);
  }
  double place(double v) const { return (v - low) / (high - low); }
};

class PanelDrawing {
 public:
  explicit PanelDrawing(const Panel& panel) : panel_(panel) {
    for (const auto& curve : panel.curves) {
      for (const auto& [step, value] : curve.points) {
        if (!drawable(value)) continue;
        x_.take(step);
        y_.take(scaled(value));
      }
    }
    x_.widen();
    y_.widen();
  }

  void draw(Svg& svg, double left, double top) const {
    svg.text(left + kLeft, top + 18, panel_.title, "font-weight=\"bold\"");
    svg.rect(left + kLeft, top + kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom, "fill=\"none\" stroke=\"#999\"");
    for (int k = 0; k <= 4; ++k) ticks(svg, left, top, k / 4.0);
    for (std::size_t i = 0; i < panel_.curves.size(); ++i) line(svg, left, top, panel_.curves[i], i);
  }

 private:
  bool drawable(double value) const { return std::isfinite(value) && (!panel_.logarithmic || value > 0); }
  double scaled(double value) const { return panel_.logarithmic ? std::log10(value) : value; }
  double px(double step) const { return kLeft + x_.place(step) * (kWidth - kLeft - kRight); }
  double py(double scaled_value) const { return kHeight - kBottom - y_.place(scaled_value) * (kHeight - kTop - kBottom); }

  void ticks(Svg& svg, double left, double top, double part) const {
    const double step = x_.low + part * (x_.high - x_.low), at = y_.low + part * (y_.high - y_.low);
    const double value = panel_.logarithmic ? std::pow(10, at) : at;
    svg.line(left + kLeft, top + py(at), left + kWidth - kRight, top + py(at), "stroke=\"#eee\"");
    svg.text(left + kLeft - 4, top + py(at) + 4, fmt::format("{:.3g}", value), "text-anchor=\"end\"");
    svg.text(left + px(step), top + kHeight - kBottom + 16, fmt::format("{:.0f}", step), "text-anchor=\"middle\"");
  }

  void line(Svg& svg, double left, double top, const Curve& curve, std::size_t index) const {
    const auto* colour = colours[index % colours.size()];
    Svg::Points points;
    for (const auto& [step, value] : curve.points) {
      if (drawable(value)) points.emplace_back(left + px(step), top + py(scaled(value)));
    }
    svg.polyline(points, fmt::format("stroke=\"{}\" stroke-width=\"1.3\"", colour));
    if (panel_.curves.size() < 2) return;
    svg.text(left + kWidth - kRight - 6, top + kTop + 14 + 14 * static_cast<double>(index), curve.name,
             fmt::format("text-anchor=\"end\" fill=\"{}\"", colour));
  }

  const Panel& panel_;
  Range x_, y_;
};

std::vector<Panel> panels_of(std::vector<Curve> record, std::vector<Curve> validation) {
  static const std::set<std::string> not_losses = {"gradient", "rate", "images_per_second"};
  std::vector<Panel> panels{{.title = "training losses (weighted)", .curves = {}, .logarithmic = true}};
  for (auto& curve : record) {
    if (!not_losses.contains(curve.name)) {
      panels.front().curves.push_back(std::move(curve));
    } else {
      const auto title = curve.name;
      panels.push_back({.title = title, .curves = {std::move(curve)}});
    }
  }
  if (panels.front().curves.empty()) panels.clear();
  for (auto& curve : validation) {
    const auto title = "validation: " + curve.name;
    panels.push_back({.title = title, .curves = {std::move(curve)}});
  }
  return panels;
}

}  // namespace

std::string plot_run(const std::filesystem::path& run) {
  const auto panels = panels_of(read_curves(run / "record.csv"), read_curves(run / "validation.csv"));
  require(!panels.empty(), run.string(), "a run directory with record.csv or validation.csv", "neither");
  const auto rows = (panels.size() + 1) / 2;
  Svg svg(2 * kWidth, static_cast<double>(rows) * kHeight);
  svg.paper();
  for (std::size_t i = 0; i < panels.size(); ++i) {
    PanelDrawing(panels[i]).draw(svg, static_cast<double>(i % 2) * kWidth, static_cast<double>(i / 2) * kHeight);
  }
  return svg.str();
}

}  // namespace spnn
