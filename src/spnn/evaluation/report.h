#pragma once

#include <spnn/core/config.h>

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace spnn {

using torch::Tensor;

struct Table {
  std::string title = {};
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};
};

struct BarChart {
  std::string title = {};
  std::vector<std::string> labels = {};   // one bar group each
  struct Series {
    std::string name = {};
    std::vector<double> values = {};
  };
  std::vector<Series> series = {};
  double top = 0;                         // of the scale; 0: the largest value
  bool percent = false;
};

struct Picture {
  std::string caption = {};
  std::string png_base64 = {};
};

Picture picture(std::string caption, const Tensor& image);   // uint8 [C, H, W]

// What one command found.
struct ReportSection {
  std::string name = {};       // of its files: letters, digits, - and _
  std::string title = {};
  std::string command = {};    // that made it
  int order = 0;               // sections are shown in ascending order
  std::vector<std::string> text = {};
  std::vector<Table> tables = {};
  std::vector<BarChart> charts = {};
  std::vector<Picture> pictures = {};
};

Json to_json(const ReportSection& section);
ReportSection section_from_json(const Json& json);

// One self-contained page: pictures and charts are inside, it loads nothing, and it reads well on a phone.
std::string render_html(const std::vector<ReportSection>& sections);
std::string render_csv(const Table& table);
std::string render_svg(const BarChart& chart);

// Adds the section to the report in `folder` (replacing one of the same name) and writes report.html anew, with the
// tables as CSV beside it. Returns the page's name.
std::filesystem::path add_to_report(const std::filesystem::path& folder, const ReportSection& section);

std::string base64(std::string_view bytes);

}  // namespace spnn
