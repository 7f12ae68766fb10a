#include <spnn/core/errors.h>
#include <spnn/evaluation/report.h>
#include <spnn/image/image.h>

#include <algorithm>

namespace spnn {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::vector<std::string> quoted;
  for (const auto& cell : cells) quoted.push_back(csv_cell(cell));
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) { return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U; };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += digits[three >> 18];
    out += digits[three >> 12 & 63];
    out += i + 1 < bytes.size() ? digits[three >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? digits[three & 63] : '=';
  }
  return out;
}

Picture picture(std::string caption, const Tensor& image) {
  const auto bytes = encode_image(image, ".png");
  return {std::move(caption), base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()})};
}

Json to_json(const ReportSection& section) {
  Json json = {{"name", section.name},     {"title", section.title},   {"command", section.command},
               {"order", section.order},   {"text", section.text},     {"tables", Json::array()},
               {"charts", Json::array()},  {"pictures", Json::array()}};
  for (const auto& t : section.tables) {
    json["tables"].push_back({{"title", t.title}, {"columns", t.columns}, {"rows", t.rows}});
  }
  for (const auto& c : section.charts) {
    Json series = Json::array();
    for (const auto& s : c.series) series.push_back({{"name", s.name}, {"values", s.values}});
    json["charts"].push_back(
        {{"title", c.title}, {"labels", c.labels}, {"series", series}, {"top", c.top}, {"percent", c.percent}});
  }
  for (const auto& p : section.pictures) json["pictures"].push_back({{"caption", p.caption}, {"png", p.png_base64}});
  return json;
}

ReportSection section_from_json(const Json& json) {
  ReportSection s{.name = json.at("name"), .title = json.at("title"), .command = json.at("command"),
                  .order = json.at("order"), .text = json.at("text")};
  for (const auto& t : json.at("tables")) {
    s.tables.push_back({.title = t.at("title"), .columns = t.at("columns"), .rows = t.at("rows")});
  }
  for (const auto& c : json.at("charts")) {
    BarChart chart{.title = c.at("title"), .labels = c.at("labels"), .series = {}, .top = c.at("top"), .percent = c.at("percent")};
    for (const auto& one : c.at("series")) {
      std::vector<double> values;   // JSON has no NaN: a missing value comes back as null
      for (const auto& v : one.at("values")) values.push_back(v.is_null() ? 0.0 : v.get<double>());
      chart.series.push_back({one.at("name"), std::move(values)});
    }
    s.charts.push_back(std::move(chart));
  }
  for (const auto& p : json.at("pictures")) s.pictures.push_back({p.at("caption"), p.at("png")});
  return s;
}

std::string render_csv(const Table& table) {
  auto text = csv_row(table.columns);
  for (const auto& row : table.rows) text += csv_row(row);
  return text;
}

std::filesystem::path add_to_report(const std::filesystem::path& folder, const ReportSection& section) {
  const auto sections = folder / "sections";
  std::filesystem::create_directories(sections);
  write_text_atomically(sections / (section.name + ".json"), to_json(section).dump());
  for (std::size_t i = 0; i < section.tables.size(); ++i) {
    const auto number = section.tables.size() > 1 ? fmt::format("-{}", i + 1) : std::string();
    write_text_atomically(folder / fmt::format("{}{}.csv", section.name, number), render_csv(section.tables[i]));
  }
  std::vector<ReportSection> all;
  for (const auto& entry : std::filesystem::directory_iterator(sections)) {
    if (entry.path().extension() == ".json") all.push_back(section_from_json(read_config(entry.path())));
  }
  std::ranges::sort(all, {}, [](const ReportSection& s) { return std::pair(s.order, s.name); });
  write_text_atomically(folder / "report.html", render_html(all));
  return folder / "report.html";
}

}  // namespace spnn
