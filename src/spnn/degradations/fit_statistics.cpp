#include <spnn/core/json_fields.h>
#include <spnn/degradations/fit_statistics.h>

#include <algorithm>

namespace spnn {

void to_json(Json& json, const FitStatistics& s) { json = {{"error", s.error}, {"signal", s.signal}}; }

void from_json(const Json& json, FitStatistics& s) {
  JsonFields(json, "fit").required("error", s.error).required("signal", s.signal).no_others();
  const auto sound = [](const auto& list) { return std::ranges::all_of(list, [](double v) { return v >= 0; }); };
  require(s.error.size() == s.signal.size() && sound(s.error) && sound(s.signal), "fit", "as many errors as signals, all of 0 or more", json.dump());
}

}  // namespace spnn
