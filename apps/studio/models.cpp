#include "models.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace spnn::studio {

double probability(double output) { return 1 / (1 + std::exp(-output)); }
double output_of(double p) { return std::log(p / (1 - p)); }

KnownModels::KnownModels(Models given)
    : models(std::move(given)), info(models.session->info()), attributes(models.session->attributes()) {
  if (info.task != "attributes")
    throw std::runtime_error("studio: expected models of attributes, got a network of " + info.task);
  if (info.width != info.height) throw std::runtime_error("studio: expected models of square images");
  inverses = {"learned", "anchored", "origin"};
}

bool KnownModels::has_attribute(const std::string& name) const {
  return std::find(info.names.begin(), info.names.end(), name) != info.names.end();
}

Json KnownModels::probabilities(const std::vector<double>& outputs) const {
  auto json = Json::object();
  for (std::size_t i = 0; i < outputs.size() && i < info.names.size(); ++i)
    json[info.names[i]] = std::round(1e4 * probability(outputs[i])) / 1e4;
  return json;
}

const std::vector<AttributeGroup>& attribute_groups() {
  static const std::vector<AttributeGroup> groups = {
      {"Expression", {"Smiling", "Mouth_Slightly_Open", "Attractive", "Young"}},
      {"Hair",
       {"Bald", "Bangs", "Black_Hair", "Blond_Hair", "Brown_Hair", "Gray_Hair", "Receding_Hairline", "Straight_Hair",
        "Wavy_Hair"}},
      {"Beard", {"5_o_Clock_Shadow", "Goatee", "Mustache", "No_Beard", "Sideburns"}},
      {"Face",
       {"Arched_Eyebrows", "Bags_Under_Eyes", "Big_Lips", "Big_Nose", "Bushy_Eyebrows", "Chubby", "Double_Chin",
        "High_Cheekbones", "Male", "Narrow_Eyes", "Oval_Face", "Pale_Skin", "Pointy_Nose", "Rosy_Cheeks"}},
      {"Accessories",
       {"Eyeglasses", "Heavy_Makeup", "Wearing_Earrings", "Wearing_Hat", "Wearing_Lipstick", "Wearing_Necklace",
        "Wearing_Necktie"}},
      {"Picture", {"Blurry"}},
  };
  return groups;
}

const std::vector<Damage>& damages() {
  static const std::vector<Damage> all = {
      {.name = "small",
       .label = "Small",
       .amount = true,
       .amount_label = "Times smaller",
       .low = 2,
       .high = 8,
       .step = 2,
       .otherwise = 4,
       .suffix = " ×"},
      {.name = "blur",
       .label = "Blurred",
       .amount = true,
       .amount_label = "Blur",
       .low = 0.5,
       .high = 4,
       .step = 0.1,
       .otherwise = 1.5,
       .prefix = "σ "},
      {.name = "holes", .label = "Holes"},
      {.name = "grey", .label = "Grey"},
      {.name = "jpeg", .label = "JPEG", .linear = false},
      {.name = "noise", .label = "Noise"},
  };
  return all;
}

namespace {

Json described_attributes(const KnownModels& known) {
  auto list = Json::array();
  const auto add = [&](const std::string& name, const std::string& group) {
    auto label = name;
    std::replace(label.begin(), label.end(), '_', ' ');
    if (name == "5_o_Clock_Shadow") label = "5 o'clock shadow";
    for (std::size_t i = 1; i < label.size(); ++i)
      label[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[i])));
    Json one = {{"name", name}, {"label", label}, {"group", group}, {"mean", 0}, {"sigma", 1}};
    for (const auto& range : known.attributes)
      if (range.name == name)
        one.update({{"mean", range.mean},
                    {"sigma", range.deviation},
                    {"with", probability(range.with)},
                    {"without", probability(range.without)}});
    list.push_back(one);
  };
  std::vector<std::string> rest = known.info.names;
  for (const auto& [group, names] : attribute_groups())
    for (const auto& name : names)
      if (known.has_attribute(name)) {
        add(name, group);
        std::erase(rest, name);
      }
  for (const auto& name : rest) add(name, "Other");
  return list;
}

Json described_damages(const KnownModels& known) {
  auto list = Json::array();
  for (const auto& damage : damages()) {
    Json one = {{"name", damage.name}, {"label", damage.label}, {"linear", damage.linear}};
    if (damage.name == "jpeg") one["available"] = !known.models.jpeg_model.empty();
    if (damage.amount)
      one["amount"] = {{"label", damage.amount_label}, {"min", damage.low},           {"max", damage.high},
                       {"step", damage.step},          {"default", damage.otherwise}, {"prefix", damage.prefix},
                       {"suffix", damage.suffix}};
    list.push_back(one);
  }
  return list;
}

// As their papers write them; the other names are acronyms.
const std::map<std::string, std::string> kMethodLabels = {
    {"pinv", "A†y"},         {"repaint", "RePaint"},           {"pigdm", "ΠGDM"},
    {"diffpir", "DiffPIR"},  {"diffpir-pinv", "DiffPIR, A†y"}, {"diffpir-nlbp", "DiffPIR, NLBP"},
    {"red-diff", "RED-diff"}};

Json described_methods(const KnownModels& known) {
  auto list = Json::array();
  for (const auto& method : known.models.methods) {
    auto label = method.name;
    std::transform(label.begin(), label.end(), label.begin(), [](unsigned char c) { return std::toupper(c); });
    if (const auto own = kMethodLabels.find(method.name); own != kMethodLabels.end()) label = own->second;
    Json one = {{"name", method.name},
                {"label", label},
                {"what", method.what},
                {"linear_only", method.linear_only},
                {"knows_noise", method.knows_noise}};
    if (method.name == "nlbp") list.insert(list.begin(), one);
    else list.push_back(one);
  }
  return list;
}

Json described_fields() {
  const Json seed = {{"type", "whole number"}, {"min", 0}, {"max", Ranges::seed_most}, {"default", 0}};
  const auto steps = [](std::int64_t otherwise) {
    return Json{{"type", "whole number"}, {"min", 1}, {"max", Ranges::steps_most}, {"default", otherwise}};
  };
  const Json photo = {{"type", "the id that POST /api/v1/photos answered"}};
  const Json crop = {{"type", "{x, y, side} in pixels of the upright photo"}, {"default", "the middle square"}};
  const Json wishes = {{"type", "{attribute: probability} or {attribute: {\"value\": output of g}}"},
                       {"min", Ranges::wish_low},
                       {"max", Ranges::wish_high}};
  const Json keep = {{"type", "number"}, {"min", 0}, {"max", 1}, {"default", nullptr}};
  const Json fast = {{"type", "true or false"}, {"default", false}};
  const Json damage = {{"type", "{kind, amount, mask}; mask: one character a pixel, row by row, 1 is missing"}};
  const Json noise = {{"type", "σ of pixels in [0, 1]"}, {"min", 0}, {"max", Ranges::noise_most}, {"default", 0}};
  return {{"edit",
           {{"photo", photo},
            {"crop", crop},
            {"wishes", wishes},
            {"keep", keep},
            {"fast", fast},
            {"seed", seed},
            {"steps", steps(Ranges::edit_steps)}}},
          {"sample", {{"seed", seed}, {"steps", steps(Ranges::sample_steps)}}},
          {"restore",
           {{"photo", photo},
            {"crop", crop},
            {"damage", damage},
            {"noise", noise},
            {"degraded", fast},
            {"method", {{"type", "one of methods"}}},
            {"seed", seed},
            {"steps", steps(Ranges::restore_steps)}}}};
}

}  // namespace

Json describe(const KnownModels& known, const Limits& limits) {
  return {{"name", "spnn studio"},
          {"version", known.models.version},
          {"size", known.size()},
          {"network", known.info.network},
          {"judge", known.models.judge},
          {"live", true},
          {"attributes", described_attributes(known)},
          {"inverses", known.inverses},
          {"damages", described_damages(known)},
          {"methods", described_methods(known)},
          {"fields", described_fields()},
          {"limits",
           {{"body", limits.photo_bytes},
            {"json", limits.json_bytes},
            {"pixels", limits.photo_pixels},
            {"photos", limits.photos},
            {"queue", limits.queue},
            {"queue_of_a_client", limits.queue_of_a_client},
            {"job_seconds", limits.job_seconds},
            {"connections", limits.connections}}},
          {"routes",
           {{"POST /api/v1/photos", "a PNG, JPEG or WebP file: {photo, width, height}"},
            {"GET /api/v1/photos/ID", "the file"},
            {"POST /api/v1/ask/WHAT", "look, live, damage, pinv, project, split, verify: answered at once"},
            {"POST /api/v1/jobs", "{kind: edit|restore|sample, …}: {job, place}"},
            {"GET /api/v1/jobs/ID", "its state"},
            {"GET /api/v1/jobs/ID/events",
             "server-sent events: queued, started, progress, preview, done, failed, cancelled"},
            {"GET /api/v1/jobs/ID/picture", "the result as PNG, with the settings inside"},
            {"DELETE /api/v1/jobs/ID", "stops it"}}}};
}

}  // namespace spnn::studio
