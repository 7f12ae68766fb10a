#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spnn {

// A drawing in pixels, y down. Attributes are SVG's own, such as fill="none" stroke="#999".
class Svg {
 public:
  using Points = std::vector<std::pair<double, double>>;

  Svg(double width, double height, std::string_view title = {});
  Svg& paper();                                                                    // a white ground
  Svg& text(double x, double y, std::string_view text, std::string_view attributes = {});
  Svg& rect(double x, double y, double width, double height, std::string_view attributes);
  Svg& line(double x1, double y1, double x2, double y2, std::string_view attributes);
  Svg& polyline(const Points& points, std::string_view attributes);
  Svg& dot(double x, double y, std::string_view colour);
  std::string str() const { return body_ + "</svg>\n"; }

 private:
  std::string body_;
};

}  // namespace spnn
