#include <spnn/core/errors.h>
#include <spnn/evaluation/report.h>

#include <algorithm>
#include <cmath>

namespace spnn {
namespace {

constexpr std::string_view style = R"(
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:0 auto;padding:1rem}
h1{font-size:1.6rem}h2{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:1rem}
nav a{margin-right:1rem}.wide{overflow-x:auto;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;font-size:.9rem;white-space:nowrap}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--soft)}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:Canvas}
code{background:var(--soft);padding:.1rem .3rem;border-radius:.2rem;overflow-wrap:anywhere}
figure{margin:1rem 0}figcaption{font-size:.9rem;opacity:.85}
img{max-width:100%;image-rendering:pixelated}svg{max-width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:CanvasText}
)";

// A palette that also differs in lightness.
constexpr std::array<std::string_view, 4> colours = {"#2f6db3", "#e08a1e", "#5a9e4b", "#a54f8d"};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string cells(const std::vector<std::string>& row, std::string_view tag) {
  std::string out = "<tr>";
  for (const auto& cell : row) out += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
  return out + "</tr>\n";
}

std::string render_table(const Table& table, const std::string& csv) {
  auto out = fmt::format("<figure><figcaption>{} (<a href=\"{}\">CSV</a>)</figcaption><div class=wide><table>\n",
                         escaped(table.title), escaped(csv));
  out += cells(table.columns, "th");
  for (const auto& row : table.rows) out += cells(row, "td");
  return out + "</table></div></figure>\n";
}

std::string render_section(const ReportSection& s) {
  const auto made_by = fmt::format("<p>Made by <code>{}</code></p>\n", escaped(s.command));
  auto out = fmt::format("<section><h2 id=\"{}\">{}</h2>\n{}", escaped(s.name), escaped(s.title), made_by);
  for (const auto& paragraph : s.text) out += fmt::format("<p>{}</p>\n", escaped(paragraph));
  for (std::size_t i = 0; i < s.tables.size(); ++i) {
    out += render_table(s.tables[i], s.tables.size() > 1 ? fmt::format("{}-{}.csv", s.name, i + 1) : s.name + ".csv");
  }
  const auto source = fmt::format("<br><code>{}</code>", escaped(s.command));
  for (const auto& chart : s.charts) {
    out += fmt::format("<figure><div class=wide>{}</div><figcaption>{}{}</figcaption></figure>\n", render_svg(chart),
                       escaped(chart.title), source);
  }
  for (const auto& p : s.pictures) {
    out += fmt::format("<figure><div class=wide><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"></div>"
                       "<figcaption>{0}{2}</figcaption></figure>\n", escaped(p.caption), p.png_base64, source);
  }
  return out + "</section>\n";
}

std::string number(double value, bool percent) {
  return percent ? fmt::format("{:.1f}", 100 * value) : fmt::format("{:.3g}", value);
}

}  // namespace

// Horizontal bars: forty attribute names are readable only beside their bars.
std::string render_svg(const BarChart& chart) {
  constexpr int left = 150, bar = 9, gap = 7, width = 640, right = 50, head = 22;
  double top = chart.top;
  for (const auto& s : chart.series) {
    for (const double v : s.values) top = chart.top > 0 || !std::isfinite(v) ? top : std::max(top, v);
  }
  const double scale = top > 0 ? (width - left - right) / top : 0;
  const int group = bar * static_cast<int>(chart.series.size()) + gap;
  const int height = head + group * static_cast<int>(chart.labels.size());
  auto out = fmt::format("<svg role=img viewBox=\"0 0 {0} {1}\" width={0} height={1} xmlns=\"http://www.w3.org/2000/svg\">"
                         "<title>{2}</title>", width, height, escaped(chart.title));
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const int x = left + 160 * static_cast<int>(s);
    out += fmt::format("<rect x={} y=2 width=10 height=10 fill=\"{}\"/><text x={} y=11>{}</text>", x,
                       colours[s % colours.size()], x + 14, escaped(chart.series[s].name));
  }
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    const int y = head + group * static_cast<int>(i);
    out += fmt::format("<text x={} y={} text-anchor=end>{}</text>", left - 6,
                       y + bar * static_cast<int>(chart.series.size()) / 2 + 4, escaped(chart.labels[i]));
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double v = i < chart.series[s].values.size() ? chart.series[s].values[i] : NAN;
      if (!std::isfinite(v)) continue;
      const int at = y + bar * static_cast<int>(s);
      const double length = std::clamp(v, 0.0, top) * scale;
      out += fmt::format("<rect x={} y={} width={:.1f} height={} fill=\"{}\"/><text x={:.1f} y={}>{}</text>", left, at,
                         length, bar - 1, colours[s % colours.size()], left + length + 3, at + bar - 1, number(v, chart.percent));
    }
  }
  return out + "</svg>";
}

std::string render_html(const std::vector<ReportSection>& sections) {
  auto out = fmt::format("<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
                         "<meta name=viewport content=\"width=device-width,initial-scale=1\">"
                         "<title>spnn report</title><style>{}</style></head><body>\n<h1>spnn report</h1>\n<nav>", style);
  for (const auto& s : sections) out += fmt::format("<a href=\"#{}\">{}</a>", escaped(s.name), escaped(s.title));
  out += "</nav>\n";
  for (const auto& s : sections) out += render_section(s);
  return out + "</body></html>\n";
}

}  // namespace spnn
