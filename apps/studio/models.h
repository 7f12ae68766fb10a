#pragma once

// What the studio needs of the engine, in one hand: a session, and what it can say about itself.

#include <spnn/engine/field.h>
#include <spnn/engine/session.h>

#include <functional>
#include <string>
#include <vector>

#include "fields.h"

namespace spnn::studio {

struct Models {
  const engine::Session* session = nullptr;
  std::function<engine::Image(const engine::Photo&, std::int64_t width, std::int64_t height)> fit;
  std::vector<engine::FieldCatalogue::Method> methods;
  std::string jpeg_model = {};  // a network fitted to JPEG, if one is shipped for these models
  std::string prior = {};       // its file, which `spnn sample` wants to be told
  std::string options = {};     // of the command line, to name the same models: " --models celebahq256"
  std::int64_t size = 0;         // of the pictures that are made; 0: what g sees
  bool judge = true;            // is there one?
  std::string version = {};
};

// The same, with everything asked once that does not change.
struct KnownModels {
  explicit KnownModels(Models models);

  Models models;
  engine::SessionInfo info;
  std::vector<engine::AttributeRange> attributes;
  std::vector<std::string> inverses;

  std::int64_t size() const { return models.size > 0 ? models.size : info.width; }
  bool has_attribute(const std::string& name) const;
  // {"Smiling": 0.98, …} of outputs; an empty object of none.
  Json probabilities(const std::vector<double>& outputs) const;
};

double probability(double output);
double output_of(double probability);

struct AttributeGroup {
  std::string group;
  std::vector<std::string> names;
};
const std::vector<AttributeGroup>& attribute_groups();

// What can happen to a photo. `amount` none: nothing to choose.
struct Damage {
  std::string name, label;
  bool linear = true;
  bool amount = false;
  std::string amount_label = {};
  double low = 0, high = 0, step = 0, otherwise = 0;
  std::string prefix = {}, suffix = {};
};
const std::vector<Damage>& damages();

// The answer to GET /api/v1.
Json describe(const KnownModels& known, const Limits& limits);

// Ranges that description and parsing share.
struct Ranges {
  static constexpr double wish_low = 0.001, wish_high = 0.999, output_most = 40, noise_most = 0.5;
  static constexpr std::int64_t steps_most = 1000, edit_steps = 30, sample_steps = 50, restore_steps = 50;
  static constexpr std::int64_t seed_most = 4294967295;
};

}  // namespace spnn::studio
