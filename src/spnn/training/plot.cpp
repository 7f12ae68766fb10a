#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/training/plot.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
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

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<Curve> read_curves(const std::filesystem::path& csv) {
  if (!std::filesystem::exists(csv)) return {};
  std::istringstream in(read_text(csv));
  std::string line;
  std::getline(in, line);
  std::vector<Curve> curves;
  for (const auto& name : split(line)) curves.push_back({name});
  require(!curves.empty() && curves.front().name == "step", csv.string(), "a first column 'step'", line);
  for (int number = 2; std::getline(in, line); ++number) {
    const auto cells = split(line);
    require(cells.size() == curves.size(), fmt::format("{}:{}", csv.string(), number),
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

  std::string svg(double left, double top) const {
    std::string out = fmt::format("<g transform=\"translate({},{})\">\n", left, top);
    out += fmt::format("<text x=\"{}\" y=\"18\" font-weight=\"bold\">{}</text>\n", kLeft, panel_.title);
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#999\"/>\n", kLeft, kTop,
                       kWidth - kLeft - kRight, kHeight - kTop - kBottom);
    for (int k = 0; k <= 4; ++k) out += ticks(k / 4.0);
    for (std::size_t i = 0; i < panel_.curves.size(); ++i) out += line(panel_.curves[i], i);
    return out + "</g>\n";
  }

 private:
  bool drawable(double value) const { return std::isfinite(value) && (!panel_.logarithmic || value > 0); }
  double scaled(double value) const { return panel_.logarithmic ? std::log10(value) : value; }
  double px(double step) const { return kLeft + x_.place(step) * (kWidth - kLeft - kRight); }
  double py(double scaled_value) const { return kHeight - kBottom - y_.place(scaled_value) * (kHeight - kTop - kBottom); }

  std::string ticks(double part) const {
    const double step = x_.low + part * (x_.high - x_.low), at = y_.low + part * (y_.high - y_.low);
    const double value = panel_.logarithmic ? std::pow(10, at) : at;
    return fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#eee\"/>"
                       "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.3g}</text>"
                       "<text x=\"{6:.1f}\" y=\"{7}\" text-anchor=\"middle\">{8:.0f}</text>\n",
                       kLeft, kWidth - kRight, py(at), kLeft - 4, py(at) + 4, value, px(step), kHeight - kBottom + 16, step);
  }

  std::string line(const Curve& curve, std::size_t index) const {
    const auto* colour = colours[index % colours.size()];
    std::string points;
    for (const auto& [step, value] : curve.points) {
      if (drawable(value)) points += fmt::format("{:.1f},{:.1f} ", px(step), py(scaled(value)));
    }
    std::string out = fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.3\"/>\n", points, colour);
    if (panel_.curves.size() > 1) {
      out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{}\">{}</text>\n", kWidth - kRight - 6,
                         kTop + 14 + 14 * static_cast<double>(index), colour, curve.name);
    }
    return out;
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
  std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" "
                                "font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                                2 * kWidth, static_cast<double>(rows) * kHeight);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    out += PanelDrawing(panels[i]).svg(static_cast<double>(i % 2) * kWidth, static_cast<double>(i / 2) * kHeight);
  }
  return out + "</svg>\n";
}

}  // namespace spnn
