#include <spnn/core/errors.h>
#include <spnn/core/svg.h>
#include <spnn/core/text.h>
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
figure,details{margin:1rem 0}summary{cursor:pointer}figcaption{font-size:.9rem;opacity:.85}
img{max-width:100%;image-rendering:pixelated}svg{max-width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:CanvasText}
th[aria-sort]{cursor:pointer}th[aria-sort=ascending]::after{content:" ▲"}th[aria-sort=descending]::after{content:" ▼"}
input[type=search]{font:inherit;width:100%;max-width:24rem;margin:.5rem 0}
)";

// Tables sort by a click on a column (numbers as numbers, what is empty last) and keep the rows that have every word typed above them.
// Without scripts they are what they were.
constexpr std::string_view script = R"(
"use strict";
const value = (row, column) => row.cells[column].textContent.trim();
const number = text => parseFloat(text.replace("−", "-"));
function compare(a, b) {
  if (a === "" || b === "") return (a === "") - (b === "");
  const difference = number(a) - number(b);
  return Number.isNaN(difference) ? a.localeCompare(b) : difference;
}
function sort(table, column) {
  const heads = [...table.rows[0].cells], rows = [...table.rows].slice(1);
  const down = heads[column].getAttribute("aria-sort") === "ascending";
  heads.forEach((head, k) => head.setAttribute("aria-sort", k !== column ? "none" : down ? "descending" : "ascending"));
  const empty = row => value(row, column) === "";
  rows.sort((a, b) => compare(value(a, column), value(b, column)) * (down && !empty(a) && !empty(b) ? -1 : 1));
  table.tBodies[0].append(...rows);
}
function filter(table, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of [...table.rows].slice(1)) {
    const cells = [...row.cells].map(cell => cell.textContent.toLowerCase());
    row.hidden = !words.every(word => word.startsWith("=") ? cells.includes(word.slice(1)) : cells.some(cell => cell.includes(word)));
  }
}
for (const table of document.querySelectorAll("table")) {
  [...table.rows[0].cells].forEach((head, column) => {
    head.setAttribute("aria-sort", "none");
    head.tabIndex = 0;
    head.onclick = () => sort(table, column);
    head.onkeydown = event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(table, column); } };
  });
  const search = Object.assign(document.createElement("input"), {type: "search", placeholder: "words that a row has; =word is a whole cell"});
  search.setAttribute("aria-label", "rows to show");
  search.oninput = () => filter(table, search.value);
  table.parentElement.before(search);
}
)";

// A palette that also differs in lightness.
constexpr std::array<std::string_view, 4> colours = {"#2f6db3", "#e08a1e", "#5a9e4b", "#a54f8d"};

std::string escaped(std::string_view text) { return xml_escaped(text); }

std::string cells(const std::vector<std::string>& row, std::string_view tag) {
  std::string out = "<tr>";
  for (const auto& cell : row) out += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
  return out + "</tr>\n";
}

std::string render_table(const Table& table, const std::string& csv) {
  auto out = fmt::format("<details><summary>{} (<a href=\"{}\">CSV</a>)</summary><div class=wide><table>\n",
                         escaped(table.title), escaped(csv));
  out += cells(table.columns, "th");
  for (const auto& row : table.rows) out += cells(row, "td");
  return out + "</table></div></details>\n";
}

// Pictures first, then what they mean; numbers are folded. One command made all of it.
std::string render_section(const ReportSection& s) {
  auto out = fmt::format("<section><h2 id=\"{}\">{}</h2>\n<p>Made by <code>{}</code></p>\n", escaped(s.name), escaped(s.title), escaped(s.command));
  for (const auto& p : s.pictures) {
    out += fmt::format("<figure><div class=wide><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"></div><figcaption>{0}</figcaption></figure>\n",
                       escaped(p.caption), p.png_base64);
  }
  for (const auto& paragraph : s.text) out += fmt::format("<p>{}</p>\n", escaped(paragraph));
  for (const auto& chart : s.charts) {
    out += fmt::format("<figure><div class=wide>{}</div><figcaption>{}</figcaption></figure>\n", render_svg(chart), escaped(chart.title));
  }
  for (std::size_t i = 0; i < s.tables.size(); ++i) {
    out += render_table(s.tables[i], s.tables.size() > 1 ? fmt::format("{}-{}.csv", s.name, i + 1) : s.name + ".csv");
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
  Svg svg(width, height, chart.title);
  const auto fill = [](std::size_t series) { return fmt::format("fill=\"{}\"", colours[series % colours.size()]); };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const int x = left + 160 * static_cast<int>(s);
    svg.rect(x, 2, 10, 10, fill(s)).text(x + 14, 11, chart.series[s].name);
  }
  for (std::size_t i = 0; i < chart.labels.size(); ++i) {
    const int y = head + group * static_cast<int>(i);
    svg.text(left - 6, y + bar * static_cast<int>(chart.series.size()) / 2 + 4, chart.labels[i], "text-anchor=\"end\"");
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const double v = i < chart.series[s].values.size() ? chart.series[s].values[i] : NAN;
      if (!std::isfinite(v)) continue;
      const int at = y + bar * static_cast<int>(s);
      const double length = std::clamp(v, 0.0, top) * scale;
      svg.rect(left, at, length, bar - 1, fill(s)).text(left + length + 3, at + bar - 1, number(v, chart.percent));
    }
  }
  return svg.str();
}

std::string render_html(const std::vector<ReportSection>& sections) {
  auto out = fmt::format("<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
                         "<meta name=viewport content=\"width=device-width,initial-scale=1\">"
                         "<title>spnn report</title><style>{}</style></head><body>\n<h1>spnn report</h1>\n<nav>", style);
  for (const auto& s : sections) out += fmt::format("<a href=\"#{}\">{}</a>", escaped(s.name), escaped(s.title));
  out += "</nav>\n";
  for (const auto& s : sections) out += render_section(s);
  return out + fmt::format("<script>{}</script></body></html>\n", script);
}

}  // namespace spnn
