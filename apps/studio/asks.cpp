#include <nlohmann/json.hpp>

#include <cmath>

#include "work.h"

namespace spnn::studio {
namespace {

std::vector<std::pair<std::string, double>> read_outputs(const KnownModels& known, Fields& fields) {
  const auto& values = fields.object("values");
  Fields inner(values, "values");
  std::vector<std::pair<std::string, double>> set;
  for (const auto& [name, value] : values.items()) {
    if (!known.has_attribute(name))
      throw Refusal{400, "values: expected outputs of the network, got " + shown(Json(name))};
    set.emplace_back(name, inner.number(name, -Ranges::output_most, Ranges::output_most, 0));
  }
  return set;
}

// Root mean square of the difference, of pixels in [−1, 1].
double apart(const engine::Image& a, const engine::Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::pow((a.pixels[i] - b.pixels.at(i)) / 127.5, 2);
  return std::sqrt(sum / static_cast<double>(a.pixels.size()));
}

std::string encoded(const engine::Image& image) { return base64(png(image)); }

std::function<Json()> look(const Desk& desk, Fields& fields) {
  const auto square = read_square(desk, fields);
  return [desk, square]() -> Json {
    const auto image = desk.prepared(square.photo, square.crop);
    const auto values =
        desk.known.models.session->values({.photo = photo_of(image), .judge = desk.known.models.judge});
    return {{"image", encoded(image)},
            {"g", desk.known.probabilities(values.outputs)},
            {"judge", desk.known.probabilities(values.judge)}};
  };
}

std::function<Json()> live(const Desk& desk, Fields& fields) {
  const auto square = read_square(desk, fields);
  engine::EditRequest request;
  request.attributes = read_wishes(desk.known, fields.object("wishes"));
  const auto keep = fields.number("keep", 0, 1, -1);
  if (keep >= 0) request.keep = keep;
  request.fast = true;
  return [desk, square, request]() mutable -> Json {
    const auto image = desk.prepared(square.photo, square.crop);
    if (request.attributes.empty()) return {{"image", encoded(image)}};
    request.photos = {photo_of(image)};
    engine::Watch watch;
    const auto result = desk.known.models.session->edit(request, watch);
    return {{"image", encoded(result.images.at(0).image)}, {"seconds", result.timings.total}};
  };
}

std::function<Json()> damage(const Desk& desk, Fields& fields) {
  const auto square = read_square(desk, fields);
  const auto wanted = read_damage(desk.known, fields);
  const auto degraded = fields.flag("degraded", false);
  return [desk, square, wanted, degraded]() -> Json {
    const auto image = desk.prepared(square.photo, square.crop);
    if (degraded) return {{"image", encoded(image)}};
    const auto left = desk.known.models.session->measure(
        {.photo = photo_of(image), .degradation = wanted.degradation, .noise = wanted.noise, .masks = wanted.masks});
    return {{"image", encoded(left)}, {"width", left.width}, {"height", left.height}};
  };
}

std::function<Json()> pinv(const Desk& desk, Fields& fields) {
  engine::PinvRequest request;
  for (const auto& range : desk.known.attributes) request.target.values.push_back(range.mean);
  if (request.target.values.size() != desk.known.info.names.size())
    request.target.values.assign(desk.known.info.names.size(), 0);
  request.target.set = read_outputs(desk.known, fields);
  request.pseudo_inverse = fields.one_of("inverse", desk.known.inverses, desk.known.inverses.front());
  return [desk, request]() -> Json {
    const auto made = desk.known.models.session->pinv(request);
    return {{"image", encoded(made.image)}, {"consistency", made.consistency}, {"seconds", made.seconds}};
  };
}

std::function<Json()> project(const Desk& desk, Fields& fields) {
  const auto square = read_square(desk, fields);
  engine::ProjectRequest request;
  request.target.set = read_outputs(desk.known, fields);
  request.lambda = fields.number("lambda", 0, 1, 1);
  request.pseudo_inverse = fields.one_of("inverse", desk.known.inverses, desk.known.inverses.front());
  return [desk, square, request]() mutable -> Json {
    request.photo = photo_of(desk.prepared(square.photo, square.crop));
    const auto made = desk.known.models.session->project(request);
    return {{"image", encoded(made.image)},
            {"consistency", made.consistency},
            {"moved", made.moved},
            {"seconds", made.seconds},
            {"g", desk.known.probabilities(made.saved)}};
  };
}

std::function<Json()> split(const Desk& desk, Fields& fields) {
  const auto square = read_square(desk, fields);
  const auto inverse = fields.one_of("inverse", desk.known.inverses, desk.known.inverses.front());
  return [desk, square, inverse]() -> Json {
    const auto parts = desk.known.models.session->parts(
        {.photo = photo_of(desk.prepared(square.photo, square.crop)), .pseudo_inverse = inverse});
    return {{"image", encoded(parts.photo)},
            {"range", encoded(parts.range)},
            {"null", encoded(parts.null)},
            {"apart", apart(parts.photo, parts.range)}};
  };
}

std::function<Json()> verify(const Desk& desk, Fields& fields) {
  const auto seed = fields.whole("seed", 0, Ranges::seed_most, 0);
  return [desk, seed]() -> Json {
    engine::Watch watch;
    const auto report =
        desk.known.models.session->verify({.count = 2, .seed = static_cast<std::uint64_t>(seed)}, watch);
    auto rows = Json::array();
    for (const auto& row : report.residuals)
      rows.push_back({{"name", row.name},
                      {"absolute", row.absolute},
                      {"relative", row.relative},
                      {"tolerance", row.tolerance},
                      {"passed", row.passed}});
    return {{"network", report.network}, {"residuals", rows}, {"passed", report.passed}};
  };
}

}  // namespace

std::function<Json()> wanted_answer(const Desk& desk, const std::string& what, const Json& body) {
  Fields fields(body);
  std::function<Json()> answer;
  if (what == "look") answer = look(desk, fields);
  else if (what == "live") answer = live(desk, fields);
  else if (what == "damage") answer = damage(desk, fields);
  else if (what == "pinv") answer = pinv(desk, fields);
  else if (what == "project") answer = project(desk, fields);
  else if (what == "split") answer = split(desk, fields);
  else if (what == "verify") answer = verify(desk, fields);
  else throw Refusal{404, "ask: expected look, live, damage, pinv, project, split or verify, got another question"};
  fields.finish();
  return answer;
}

}  // namespace spnn::studio
