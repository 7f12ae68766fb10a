#pragma once

// From JSON to the engine's requests and back: jobs (which take their time) and questions (answered at once).

#include "jobs.h"
#include "models.h"
#include "photos.h"

namespace spnn::studio {

struct Desk {
  const KnownModels& known;
  PhotoStore& photos;

  // The square of a photo, as the networks take it.
  engine::Image prepared(const std::string& photo, const Crop& crop) const;
};

// The work that a POST to /jobs asks for; everything is checked now, by a Refusal, nothing later. `id` is filled with
// the job's before it runs.
struct WantedJob {
  std::string client = {};
  std::function<Made(engine::Watch& watch, const std::string& job)> work = {};
};
WantedJob wanted_job(const Desk& desk, const Json& body);

// The answer to POST /ask/WHAT, to be computed by the worker. Refusal 404 for an unknown question.
std::function<Json()> wanted_answer(const Desk& desk, const std::string& what, const Json& body);

// Shared by both.
struct Square {
  std::string photo;
  Crop crop;
};
Square read_square(Desk desk, Fields& fields);

struct WantedDamage {
  std::string kind, degradation, noise = "0";
  std::vector<engine::Photo> masks;
  double amount = 0;
  std::string mask;  // as the client sent it
  Json json() const;
};
WantedDamage read_damage(const KnownModels& known, Fields& fields);

std::vector<engine::AttributeRequest> read_wishes(const KnownModels& known, const Json& wishes);

engine::Photo photo_of(engine::Image image);

}  // namespace spnn::studio
