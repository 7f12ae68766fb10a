#include "requests.h"

#include <spnn/restoration/method_table.h>
#include <spnn/core/json_fields.h>
#include <spnn/engine/paper_profile.h>

#include <algorithm>

namespace spnn::python {
namespace {

// One list of fields serves reading and writing: `visit(name, value)` for each.
template <class Visit>
void sampling_fields(engine::SamplingOptions& o, const Visit& visit) {
  visit("steps", o.steps);
  visit("sampler", o.sampler);
  visit("spacing", o.spacing);
  visit("eta", o.eta);
  visit("travel_length", o.travel_length);
  visit("travel_repeat", o.travel_repeat);
  visit("batch", o.batch);
}

template <class Visit>
void guidance_fields(engine::GuidanceOptions& o, const Visit& visit) {
  visit("pseudo_inverse", o.pseudo_inverse);
  visit("metric", o.metric);
  visit("schedule", o.schedule);
  visit("strength", o.lambda);
  visit("late", o.late);
  visit("late_below", o.late_below);
  visit("alpha", o.alpha);
  visit("gamma", o.gamma);
  visit("window_to", o.window_to);
  visit("every", o.every);
  visit("final_projections", o.final_projections);
}

template <class Visit>
void method_fields(engine::MethodOptions& o, const Visit& visit) {
  visit("strength", o.lambda);
  visit("exact", o.exact);
  visit("metric", o.metric);
  visit("pseudo_inverse", o.pseudo_inverse);
  visit("gradient", o.gradient);
  visit("ddrm_eta", o.ddrm_eta);
  visit("ddrm_eta_b", o.ddrm_eta_b);
  visit("repaint_length", o.repaint_length);
  visit("repaint_repeat", o.repaint_repeat);
  visit("langevin", o.langevin);
  visit("langevin_step", o.langevin_step);
  visit("iterations", o.iterations);
}

template <class Request, class Visit>
void wish_fields(Request& o, const Visit& visit) {
  sampling_fields(o.sampling, visit);
  guidance_fields(o.guidance, visit);
  visit("aim", o.strength);
  visit("margin", o.margin);
  visit("samples", o.samples);
  visit("seed", o.seed);
}

// What is asked for in words is a usage error where it cannot be.
template <class Work>
auto as_usage(const Work& work) {
  try {
    return work();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

template <class T>
void read_optional(JsonFields& fields, const std::string& key, std::optional<T>& value) {
  T said{};
  fields.optional(key, said);
  if (fields.has(key)) value = said;
}

std::vector<engine::AttributeRequest> attributes_of(JsonFields& fields) {
  std::vector<engine::AttributeRequest> all;
  if (!fields.has("attributes")) return all;
  for (const auto& row : fields.at("attributes")) {
    auto& a = all.emplace_back();
    JsonFields said(row, "attribute");
    said.required("name", a.name).optional("present", a.present).optional("strategy", a.strategy);
    read_optional(said, "probability", a.probability);
    said.no_others();
  }
  return all;
}

template <class Request>
Request wish_from(const std::string& json, const char* where, Request wish) {
  const auto said = Json::parse(json);
  JsonFields fields(said, where);
  wish_fields(wish, [&](const char* key, auto& value) { fields.optional(key, value); });
  read_optional(fields, "window_from", wish.guidance.window_from);
  wish.attributes = attributes_of(fields);
  if constexpr (requires { wish.keep; }) {
    fields.optional("fast", wish.fast).optional("each_step", wish.each_step).optional("redraw", wish.redraw);
    read_optional(fields, "keep", wish.keep);
  }
  fields.no_others();
  require(wish.samples >= 1, std::string(where) + ".samples", "1 or more", std::to_string(wish.samples));
  return wish;
}

}  // namespace

engine::SamplingOptions sampling_options(const std::string& json) {
  return as_usage([&] {
    auto o = engine::SampleRequest().sampling;
    const auto said = Json::parse(json);
    JsonFields fields(said, "sample");
    sampling_fields(o, [&](const char* key, auto& value) { fields.optional(key, value); });
    fields.no_others();
    return o;
  });
}

RestoreOptions restore_options(const std::string& json) {
  return as_usage([&] {
    RestoreOptions o;
    const auto said = Json::parse(json);
    JsonFields fields(said, "restore");
    const auto read = [&](const char* key, auto& value) { fields.optional(key, value); };
    sampling_fields(o.sampling, read);
    method_fields(o.method, read);
    for (const auto& setting : method_settings()) {
      if (fields.has(setting.name)) read(setting.name.c_str(), o.method.more[setting.name]);
    }
    fields.no_others();
    return o;
  });
}

engine::EditRequest edit_request(const std::string& json) {
  return as_usage([&] { return wish_from(json, "edit", engine::EditRequest()); });
}

engine::ReconstructRequest reconstruct_request(const std::string& json) {
  return as_usage([&] { return wish_from(json, "reconstruct", engine::ReconstructRequest()); });
}

std::string defaults() {
  Json all;
  const auto into = [&](const char* section) {
    return [&all, section](const char* key, const auto& value) { all[section][key] = value; };
  };
  engine::EditRequest edit;
  engine::ReconstructRequest reconstruct;
  RestoreOptions restore;
  auto sample = engine::SampleRequest().sampling;
  wish_fields(edit, into("edit"));
  wish_fields(reconstruct, into("reconstruct"));
  sampling_fields(restore.sampling, into("restore"));
  method_fields(restore.method, into("restore"));
  sampling_fields(sample, into("sample"));
  return all.dump();
}

std::string paper_options(std::int64_t attributes) {
  namespace paper = engine::paper;
  Json all;
  const auto into = [&](const char* key, const auto& value) { all[key] = value; };
  auto sampling = paper::sampling(attributes > 0);
  auto guidance = paper::guidance(static_cast<std::size_t>(attributes));
  sampling_fields(sampling, into);
  guidance_fields(guidance, into);
  all["window_from"] = guidance.window_from.value();
  if (attributes == 0) return all.dump();
  all.update({{"strategy", paper::strategy}, {"aim", paper::strength}, {"each_step", paper::each_step}, {"redraw", paper::redraw},
              {"margin", std::max(paper::margin, std::numeric_limits<double>::lowest())}});   // JSON has no infinity
  return all.dump();
}

}  // namespace spnn::python
