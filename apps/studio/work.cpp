#include "work.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace spnn::studio {
namespace {

constexpr std::int64_t kLargestSide = 100'000;

struct EditWish {
  std::string photo;
  Crop crop;
  std::vector<engine::AttributeRequest> wishes;
  Json wishes_json;
  std::optional<double> keep;
  bool fast = false;
  std::int64_t seed = 0, steps = 0;
  std::string command;
  bool needs_square = false;
};

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Does the photo have to be cut or resized first? The command is then given the square, which the page saves beside it.
bool needs_square(const Desk& desk, const Square& square) {
  const auto size = desk.photos.find(square.photo).size;
  const bool whole = square.crop.side == 0 || square.crop.side == desk.known.size();
  return size.width != desk.known.size() || size.height != desk.known.size() || !whole;
}

Json settings_of(const EditWish& wish, const std::string& source) {
  return {{"kind", "edit"},    {"wishes", wish.wishes_json}, {"keep", wish.keep ? Json(*wish.keep) : Json()},
          {"fast", wish.fast}, {"seed", wish.seed},          {"steps", wish.steps},
          {"source", source}};
}

// Empty where the command line cannot say it: it knows probabilities, not outputs.
std::string edit_command(const Desk& desk, const EditWish& wish) {
  std::string line = "spnn edit {photo}";
  for (const auto& a : wish.wishes) {
    if (!a.probability) return "";
    line += fmt::format(" --set {}={}", a.name, *a.probability);
  }
  if (wish.keep) line += fmt::format(" --keep {}", *wish.keep);
  if (wish.fast) line += " --fast";
  return line + fmt::format(" --seed {} --steps {}{} -o edited", wish.seed, wish.steps, desk.known.models.options);
}

Made edit(const Desk& desk, const EditWish& wish, engine::Watch& watch, const std::string& job) {
  const auto source = desk.prepared(wish.photo, wish.crop);
  engine::EditRequest request;
  request.photos = {photo_of(source)};
  request.attributes = wish.wishes;
  request.keep = wish.keep;
  request.fast = wish.fast;
  request.seed = static_cast<std::uint64_t>(wish.seed);
  request.sampling.steps = wish.steps;
  request.ask_judge = desk.known.models.judge;
  const auto result = desk.known.models.session->edit(request, watch);
  const auto& made = result.images.at(0);
  auto file = png(made.image, text_of(settings_of(wish, base64(png(source)))));
  const auto photo = desk.photos.add(png(made.image));
  const Json done = {{"job", job},
                     {"photo", photo.id},
                     {"g", desk.known.probabilities(made.outputs)},
                     {"judge", desk.known.probabilities(made.judge)},
                     {"target", desk.known.probabilities(made.target)},
                     {"agreement", made.agreement},
                     {"seconds", result.timings.total},
                     {"first_step", result.timings.until_first_step},
                     {"seed", made.seed},
                     {"command", wish.command}, {"needs_square", wish.needs_square}};
  return {text_of(done), std::move(file)};
}

WantedJob wanted_edit(const Desk& desk, Fields& fields) {
  EditWish wish;
  const auto square = read_square(desk, fields);
  wish.photo = square.photo;
  wish.crop = square.crop;
  wish.wishes_json = fields.object("wishes");
  wish.wishes = read_wishes(desk.known, wish.wishes_json);
  if (wish.wishes.empty()) fields.fail("wishes", "at least one attribute", "none");
  const auto keep = fields.number("keep", 0, 1, -1);
  if (keep >= 0) wish.keep = keep;
  wish.fast = fields.flag("fast", false);
  wish.seed = fields.whole("seed", 0, Ranges::seed_most, 0);
  wish.steps = fields.whole("steps", 1, Ranges::steps_most, Ranges::edit_steps);
  wish.command = edit_command(desk, wish);
  wish.needs_square = needs_square(desk, square);
  return {
      .work = [desk, wish](engine::Watch& watch, const std::string& job) { return edit(desk, wish, watch, job); }};
}

WantedJob wanted_sample(const Desk& desk, Fields& fields) {
  engine::SampleRequest request;
  request.seed = static_cast<std::uint64_t>(fields.whole("seed", 0, Ranges::seed_most, 0));
  request.sampling.steps = fields.whole("steps", 1, Ranges::steps_most, Ranges::sample_steps);
  return {.work = [desk, request](engine::Watch& watch, const std::string& job) -> Made {
    const auto result = desk.known.models.session->sample(request, watch);
    const auto& image = result.images.at(0);
    const auto photo = desk.photos.add(png(image));
    const Json settings = {{"kind", "sample"}, {"seed", request.seed}, {"steps", request.sampling.steps}};
    const Json done = {
        {"job", job},
        {"photo", photo.id},
        {"seconds", result.timings.total},
        {"seed", request.seed},
        {"file", fmt::format("face-{0}/{0:06}.png", request.seed)},
        {"command", fmt::format("spnn sample {} -n 1 --seed {} --steps {} -o face-{}", desk.known.models.prior,
                                request.seed, request.sampling.steps, request.seed)}};
    return {text_of(done), png(image, text_of(settings))};
  }};
}

struct RestoreWish {
  Square square;
  WantedDamage damage;
  bool degraded = false;
  std::string method;
  std::int64_t seed = 0, steps = 0;
  std::string command;
  bool needs_square = false;
};

// Empty for a damaged photo that had to be cut or reduced first: the command takes measurements as they are.
std::string restore_command(const Desk& desk, const RestoreWish& wish) {
  const auto size = desk.photos.find(wish.square.photo).size;
  const auto measured = wish.damage.kind == "small" ? desk.known.size() / static_cast<std::int64_t>(wish.damage.amount)
                                                    : desk.known.size();
  if (wish.degraded && (size.width != measured || size.height != measured)) return "";
  std::string line = "spnn restore {photo}";
  if (wish.degraded) line += " --degraded";
  line += fmt::format(" --operator {} --method {}", wish.damage.degradation, wish.method);
  if (wish.damage.noise != "0") line += " --noise " + wish.damage.noise;
  if (!wish.damage.masks.empty()) line += " --mask {mask}";
  return line + fmt::format(" --seed {} --steps {}{} -o restored", wish.seed, wish.steps, desk.known.models.options);
}

Made restore(const Desk& desk, const RestoreWish& wish, engine::Watch& watch, const std::string& job) {
  engine::RestoreRequest request;
  const auto source = desk.prepared(wish.square.photo, wish.square.crop);
  if (wish.degraded && wish.damage.kind == "small") {
    const auto small = desk.known.size() / static_cast<std::int64_t>(wish.damage.amount);
    request.photos = {
        photo_of(desk.known.models.fit(desk.photos.photo(wish.square.photo, wish.square.crop), small, small))};
  } else {
    request.photos = {photo_of(source)};
  }
  request.degraded = wish.degraded;
  request.degradation = wish.damage.degradation;
  request.noise = wish.damage.noise;
  request.masks = wish.damage.masks;
  request.method = wish.method;
  request.seed = static_cast<std::uint64_t>(wish.seed);
  request.sampling.steps = wish.steps;
  const auto result = desk.known.models.session->restore(request, watch);
  const auto& made = result.images.at(0);
  const Json settings = {
      {"kind", "restore"},         {"damage", wish.damage.json()}, {"noise", std::stod(wish.damage.noise)},
      {"degraded", wish.degraded}, {"method", wish.method},        {"seed", wish.seed},
      {"steps", wish.steps},       {"source", base64(png(source))}};
  Json done = {{"job", job},
               {"photo", desk.photos.add(png(made.image)).id},
               {"method", result.method},
               {"seconds", result.timings.total},
               {"inconsistency", made.inconsistency},
               {"seed", made.seed},
               {"command", wish.command}, {"needs_square", wish.needs_square}};
  if (made.psnr) done["psnr"] = *made.psnr;
  if (made.ssim) done["ssim"] = *made.ssim;
  return {text_of(done), png(made.image, text_of(settings))};
}

WantedJob wanted_restore(const Desk& desk, Fields& fields) {
  RestoreWish wish;
  wish.square = read_square(desk, fields);
  wish.damage = read_damage(desk.known, fields);
  wish.degraded = fields.flag("degraded", false);
  std::vector<std::string> methods = {"auto"};
  const bool linear = wish.damage.kind != "jpeg";
  for (const auto& method : desk.known.models.methods)
    if (linear || !method.linear_only) methods.push_back(method.name);
  wish.method = fields.one_of("method", methods, "auto");
  wish.seed = fields.whole("seed", 0, Ranges::seed_most, 0);
  wish.steps = fields.whole("steps", 1, Ranges::steps_most, Ranges::restore_steps);
  wish.command = restore_command(desk, wish);
  wish.needs_square = !wish.degraded && needs_square(desk, wish.square);
  return {
      .work = [desk, wish](engine::Watch& watch, const std::string& job) { return restore(desk, wish, watch, job); }};
}

}  // namespace

engine::Photo photo_of(engine::Image image) {
  engine::Photo photo;
  photo.image = std::move(image);
  photo.name = "photo";
  return photo;
}

engine::Image Desk::prepared(const std::string& photo, const Crop& crop) const {
  return photos.prepared(
      photo, crop, [&](const engine::Photo& wanted) { return known.models.fit(wanted, known.size(), known.size()); });
}

Square read_square(Desk desk, Fields& fields) {
  Square square;
  square.photo = fields.text("photo", 32, "");
  desk.photos.find(square.photo);
  if (const bool given = fields.has("crop"); given) {
    Fields crop(fields.object("crop"), "crop");
    square.crop.x = crop.whole("x", 0, kLargestSide, 0);
    square.crop.y = crop.whole("y", 0, kLargestSide, 0);
    square.crop.side = crop.whole("side", 1, kLargestSide, 0);
    crop.finish();
  }
  // EXIF may turn the photo: a square is right if it fits into the photo either way up; the engine knows which.
  const auto size = desk.photos.find(square.photo).size;
  const auto longest = std::max(size.width, size.height), shortest = std::min(size.width, size.height);
  if (square.crop.side > shortest || square.crop.x + square.crop.side > longest ||
      square.crop.y + square.crop.side > longest)
    fields.fail("crop", fmt::format("a square inside the photo of {} × {}", size.width, size.height),
                fmt::format("x {} y {} side {}", square.crop.x, square.crop.y, square.crop.side));
  return square;
}

Json WantedDamage::json() const {
  Json out = {{"kind", kind}};
  if (amount != 0) out["amount"] = amount;
  if (!mask.empty()) out["mask"] = mask;
  return out;
}

WantedDamage read_damage(const KnownModels& known, Fields& fields) {
  WantedDamage wanted;
  Fields damage(fields.object("damage"), "damage");
  std::vector<std::string> kinds;
  for (const auto& d : damages())
    if (d.name != "jpeg" || !known.models.jpeg_model.empty()) kinds.push_back(d.name);
  wanted.kind = damage.one_of("kind", kinds, "");
  const auto& chosen =
      *std::find_if(damages().begin(), damages().end(), [&](const Damage& d) { return d.name == wanted.kind; });
  if (chosen.amount) wanted.amount = damage.number("amount", chosen.low, chosen.high, chosen.otherwise);
  const auto noise = fields.number("noise", 0, Ranges::noise_most, 0);
  wanted.noise = fmt::format("{}", noise);
  if (wanted.kind == "small") {
    const auto factor = static_cast<std::int64_t>(wanted.amount);
    if (static_cast<double>(factor) != wanted.amount || known.size() % factor != 0)
      damage.fail("amount", "a divisor of the picture's size", shown(Json(wanted.amount)));
    wanted.degradation = fmt::format("sr{}", factor);
  } else if (wanted.kind == "blur") {
    wanted.degradation = fmt::format("gauss:{}", wanted.amount);
  } else if (wanted.kind == "holes") {
    const auto pixels = static_cast<std::size_t>(known.size() * known.size());
    wanted.mask = damage.text("mask", pixels, "");
    if (wanted.mask.size() != pixels || wanted.mask.find_first_not_of("01") != std::string::npos)
      damage.fail("mask", fmt::format("{} characters 0 or 1", pixels),
                  fmt::format("{} characters", wanted.mask.size()));
    engine::Image image{known.size(), known.size(), 1, {}};
    for (const char c : wanted.mask) image.pixels.push_back(c == '1' ? 0 : 255);
    if (wanted.mask.find('0') == std::string::npos) damage.fail("mask", "some pixels that are seen", "none");
    wanted.masks = {photo_of(std::move(image))};
    wanted.degradation = "mask";
  } else if (wanted.kind == "noise") {
    wanted.degradation = "denoise";
    if (noise == 0) wanted.noise = "0.1";
  } else {
    wanted.degradation = wanted.kind == "jpeg" ? "model:" + known.models.jpeg_model : wanted.kind;
  }
  damage.finish();
  return wanted;
}

std::vector<engine::AttributeRequest> read_wishes(const KnownModels& known, const Json& wishes) {
  std::vector<engine::AttributeRequest> all;
  Fields fields(wishes, "wishes");
  for (const auto& [name, value] : wishes.items()) {
    if (!known.has_attribute(name))
      throw Refusal{400, "wishes: expected attributes of the network, got " + shown(Json(name))};
    engine::AttributeRequest request{.name = name};
    if (value.is_object()) {
      Fields inner(value, "wishes." + name);
      request.value = inner.number("value", -Ranges::output_most, Ranges::output_most, 0);
      inner.finish();
      request.present = *request.value > 0;
    } else {
      request.probability = fields.number(name, Ranges::wish_low, Ranges::wish_high, 0.5);
      request.present = *request.probability > 0.5;
    }
    all.push_back(std::move(request));
  }
  return all;
}

WantedJob wanted_job(const Desk& desk, const Json& body) {
  Fields fields(body);
  const auto client = fields.text("client", 64, "");
  const auto kind = fields.one_of("kind", {"edit", "restore", "sample"}, "");
  auto wanted = kind == "edit"      ? wanted_edit(desk, fields)
                : kind == "restore" ? wanted_restore(desk, fields)
                                    : wanted_sample(desk, fields);
  if (const auto size = fields.whole("size", 1, 4096, desk.known.size()); size != desk.known.size())
    fields.fail("size", std::to_string(desk.known.size()) + ", which these models make", std::to_string(size));
  fields.finish();
  wanted.client = client;
  return wanted;
}

}  // namespace spnn::studio
