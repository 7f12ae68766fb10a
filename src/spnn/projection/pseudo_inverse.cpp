#include <spnn/projection/pseudo_inverse.h>

namespace spnn {
PseudoInverse pseudo_inverse_from(std::string_view word) { return value_named(kPseudoInverses, word, "pseudo-inverse"); }
Metric metric_from(std::string_view word) { return value_named(kMetrics, word, "metric"); }
std::string_view to_string(PseudoInverse choice) { return name_of(kPseudoInverses, choice); }
std::string_view to_string(Metric metric) { return name_of(kMetrics, metric); }

}  // namespace spnn
