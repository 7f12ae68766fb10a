#include <spnn/core/svg.h>
#include <spnn/core/text.h>

#include <fmt/format.h>

namespace spnn {

Svg::Svg(double width, double height, std::string_view title)
    : body_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
                        "font-family=\"sans-serif\" font-size=\"11\">\n", width, height)) {
  if (!title.empty()) body_ += fmt::format("<title>{}</title>\n", xml_escaped(title));
}

Svg& Svg::paper() { return body_ += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n", *this; }

Svg& Svg::text(double x, double y, std::string_view text, std::string_view attributes) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, xml_escaped(text));
  return *this;
}

Svg& Svg::rect(double x, double y, double width, double height, std::string_view attributes) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" {}/>\n", x, y, width, height, attributes);
  return *this;
}

Svg& Svg::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, attributes);
  return *this;
}

Svg& Svg::polyline(const Points& points, std::string_view attributes) {
  std::string all;
  for (const auto& [x, y] : points) all += fmt::format("{:.1f},{:.1f} ", x, y);
  body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" {}/>\n", all, attributes);
  return *this;
}

Svg& Svg::dot(double x, double y, std::string_view colour) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, colour);
  return *this;
}

}  // namespace spnn
