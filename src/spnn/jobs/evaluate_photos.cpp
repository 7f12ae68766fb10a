#include <spnn/engine/engine.h>
#include <spnn/jobs/experiment.h>
#include <spnn/jobs/photo_editing.h>
#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/data/one_image_a_person.h>
#include <spnn/evaluation/frechet.h>
#include <spnn/evaluation/grid_energy.h>
#include <spnn/evaluation/photo_measures.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/training/identity.h>

#include <algorithm>
#include <cmath>

namespace spnn::engine {
namespace {

const std::vector<std::string> photo_attributes = {"Eyeglasses", "Smiling", "Male", "Blond_Hair", "Black_Hair", "Bald", "Bangs", "Wearing_Hat",
                                                   "Mustache", "Heavy_Makeup", "Young", "Mouth_Slightly_Open"};

// What the edits are held against.
struct PhotoSet {
  RestorationModels models;
  JudgeModel judge;
  std::shared_ptr<Identity> identity;
  Tensor photos;                  // uint8 [N, C, H, W]
  Tensor labels;                  // [N, A]
  Opinion opinion;                // of the photos
  Tensor embeddings;              // of the photos; undefined without an identity network
  Tensor held_out_features;       // of all images of the split
  double same_person = 0, strangers = 0;   // mean cosines of pairs of real photos
  std::array<double, 3> grid = {};         // of differences of real photos
  std::shared_ptr<KeptBatches> kept = {};
};

Tensor embedded(const Identity& net, const Tensor& bytes) {
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < bytes.size(0); first += 64) {
    parts.push_back(net.embed(to_unit(bytes.slice(0, first, std::min(first + 64, bytes.size(0))))));
  }
  return torch::cat(parts);
}

void add_identity(PhotoSet& set, const PhotosExperiment& job, const Dataset& all, const Identities& people) {
  set.same_person = set.strangers = NAN;
  if (job.identity.empty()) return;
  set.identity = load_identity(job.identity);
  set.embeddings = embedded(*set.identity, set.photos);
  if (people.empty()) return;
  const auto figures = compare_pairs(embedded(*set.identity, all.images), people_of(all, people));
  set.same_person = figures.same;
  set.strangers = figures.different;
}

PhotoSet open_photo_set(const PhotosExperiment& job, Observer& observer) {
  const LoadedModels loaded({.models = job.models, .device = job.device});
  PhotoSet set{.models = loaded.restoration(), .judge = loaded.judge(), .identity = {}, .photos = {}, .labels = {}, .opinion = {}, .embeddings = {}, .held_out_features = {}};
  require(set.models.classifier.outputs.task == "attributes", "evaluate photos", "a classifier of attributes", set.models.classifier.outputs.task);
  const auto shape = set.models.shape();
  const auto all = load_held_out(job.data, shape, observer, job.held_out);
  const Identities people = job.held_out.identities.empty() ? Identities{} : read_identities(job.held_out.identities);
  const auto chosen = one_image_a_person(all, people, job.photos, job.seed);
  require(chosen.size(0) >= 2, "evaluate photos", "two people or more", std::to_string(chosen.size(0)));
  set.kept = kept_batches(job.sampling);
  set.photos = all.images.index_select(0, chosen);
  set.labels = all.labels.index_select(0, chosen);
  set.opinion = opinion_on(*set.judge.net, set.photos);
  set.held_out_features = opinion_on(*set.judge.net, all.images).features;
  add_identity(set, job, all, people);
  const auto differences = to_unit(set.photos) - to_unit(set.photos.roll(1, 0));
  for (std::size_t i = 0; i < grid_periods.size(); ++i) {
    set.grid[i] = shape.height / grid_periods[i] >= 4 ? grid_energy(differences, grid_periods[i]) : NAN;
  }
  observer.message(fmt::format("{} people", chosen.size(0)));
  return set;
}

// In batches.
Tensor outputs_of_photos(const PhotoSet& set, const BackProjector& g, const Tensor& photos, std::int64_t batch) {
  std::vector<Tensor> parts;
  for (std::int64_t first = 0; first < photos.size(0); first += batch) {
    parts.push_back(outputs_of(g, photos.slice(0, first, std::min(first + batch, photos.size(0))), set.models.device()));
  }
  return torch::cat(parts);
}

struct AttributeEdits {
  std::string name;
  PhotoEdits edits;
  PhotoMeasures measures = {};
  Tensor back = {};   // [N]: RMS from the photo once the edit was edited back; undefined: not tried
};

using PhotoAim = std::function<Target(std::int64_t first, std::int64_t last)>;   // of images first … last − 1

PhotoAim fixed_rows(const Tensor& goal) {
  return [goal](std::int64_t first, std::int64_t last) { return fixed(goal.slice(0, first, last)); };
}

// Photos moved to outputs of g, as a PNG file holds them.
Tensor edited_to(const PhotosExperiment& job, const PhotoSet& set, const BackProjector& g, const std::string& name, const Tensor& photos, const PhotoAim& aim,
                 Observer& observer) {
  const auto place = place_of_wish(std::vector<AttributeRequest>{{.name = name}}, set.models.classifier);
  const auto way = photo_way({.fast = job.fast, .keep = job.keep}, job.guidance, job.sampling, set.models.device());
  const RestorationTask task{.seeds = ImageSeeds(job.seed, photos.size(0)),
                             .target = aim,
                             .guidance = make_guidance(job.guidance),
                             .start = {.photo = photos.to(set.models.device()), .time = way.time},
                             .place = place,
                             .kept = set.kept};
  return through_png(restore(*set.models.prior, g, way.config, task, observer).bytes);
}

// The outputs y of photos first, first + 1, … with the attribute on the side where its label is not.
Tensor other_side(const PhotosExperiment& job, const PhotoSet& set, const std::string& name, const Tensor& y, std::int64_t first = 0) {
  const auto attribute = attribute_changes(std::vector<AttributeRequest>{{.name = name}}, set.models.names()).front().attribute;
  const auto wanted = (1 - set.labels.select(1, attribute)).narrow(0, first, y.size(0));
  auto goal = y;
  for (const bool present : {false, true}) {
    const auto wish = wish_of(std::vector<AttributeRequest>{{.name = name, .present = present}}, set.models.classifier, job.amount);
    goal = torch::where(wanted.gt(0.5).eq(present).unsqueeze(1), wish(y), goal);
  }
  return goal;
}

// In one pass the goal is found once; otherwise it is asked for again in every view of a photo (spun_move.h).
PhotoAim to_other_side(const PhotosExperiment& job, const PhotoSet& set, const std::string& name, const Tensor& y) {
  if (job.fast) return fixed_rows(other_side(job, set, name, y));
  return [&job, &set, name](std::int64_t first, std::int64_t) { return Target([&job, &set, name, first](const Tensor& now) { return other_side(job, set, name, now, first); }); };
}

Tensor rms_between(const Tensor& a, const Tensor& b) { return (to_unit(a) - to_unit(b)).square().flatten(1).mean(1).sqrt(); }

// How far two edits in either order are apart: [N].
Tensor either_order(const PhotosExperiment& job, const PhotoSet& set, const BackProjector& g, const AttributeEdits& a, const AttributeEdits& b, Observer& observer) {
  const auto then = [&](const AttributeEdits& first, const std::string& second) {
    const auto x = to_unit(first.edits.edited);
    return edited_to(job, set, g, second, x, to_other_side(job, set, second, outputs_of_photos(set, g, x, job.sampling.batch)), observer);
  };
  return rms_between(then(a, b.name), then(b, a.name));
}

Tensor men_among(const PhotoSet& set) {
  const auto& names = set.models.names();
  const auto found = std::ranges::find(names, "Male");
  return found == names.end() ? Tensor() : set.labels.select(1, found - names.begin());
}

AttributeEdits run_attribute(const PhotosExperiment& job, const PhotoSet& set, const BackProjector& g, const std::string& name, Observer& observer) {
  const auto attribute = attribute_changes(std::vector<AttributeRequest>{{.name = name}}, set.models.names()).front().attribute;
  const auto wanted = 1 - set.labels.select(1, attribute);
  const auto photos = to_unit(set.photos);
  const Stopwatch watch;
  const auto y = outputs_of_photos(set, g, photos, job.sampling.batch);
  const auto saved = edited_to(job, set, g, name, photos, to_other_side(job, set, name, y), observer);
  AttributeEdits out{.name = name, .edits = {.photos = set.photos, .edited = saved, .wanted = wanted, .men = men_among(set), .attribute = attribute,
                                             .y_edited = {}, .judge_photos = set.opinion.logits, .judge_edited = {}, .features_photos = set.opinion.features,
                                             .features_edited = {}, .identity_photos = set.embeddings, .identity_edited = {}, .seconds = watch.seconds()}};
  const auto opinion = opinion_on(*set.judge.net, out.edits.edited);
  out.edits.y_edited = outputs_of(g, to_unit(out.edits.edited), set.models.device());
  out.edits.judge_edited = opinion.logits;
  out.edits.features_edited = opinion.features;
  if (set.identity) out.edits.identity_edited = embedded(*set.identity, out.edits.edited);
  out.measures = measure_photo_edits(out.edits);
  if (job.fast) out.back = rms_between(edited_to(job, set, g, name, to_unit(saved), fixed_rows(y), observer), set.photos);
  return out;
}

std::string way_in_words(const PhotosExperiment& job) {
  if (job.fast) return "one pass";
  const auto keep = job.keep.value_or(photo_keep);
  return "the mean over views, carried through the prior" + (keep < 1 ? fmt::format(", its place drawn again (keep {})", keep) : "");
}

std::vector<std::string> photo_row(const std::string& name, const PhotoMeasures& m) {
  const auto number = [](double value, int digits) { return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : std::string("–"); };
  const auto share = [](double value) { return std::isfinite(value) ? percent(value) : std::string("–"); };
  return {name,          percent(m.by_g),  percent(m.by_judge),   share(m.of_men), share(m.of_women), percent(m.judge_before), number(m.identity, 3), percent(m.others_changed), number(m.rms, 3),
          number(m.feature_distance, 2), number(m.grid[0], 2), number(m.grid[1], 2), number(m.grid[2], 2), number(1000 * m.seconds_per_image, 0)};
}

Table photo_table(const std::vector<AttributeEdits>& all, const PhotoMeasures& mean, const std::string& title) {
  Table table{.title = title,
              .columns = {"attribute", "by g", "by judge", "men", "women", "before", "identity", "others changed", "RMS", "features", "grid 2", "grid 4", "grid 8", "ms"}};
  for (const auto& one : all) table.rows.push_back(photo_row(one.name, one.measures));
  table.rows.push_back(photo_row("mean", mean));
  return table;
}

// Photo, edit and difference side by side: the first people as they come, none chosen.
Picture photo_picture(const PhotoSet& set, const AttributeEdits& one, std::int64_t people) {
  std::vector<Tensor> cells;
  std::vector<std::string> captions;
  for (std::int64_t i = 0; i < std::min(people, set.photos.size(0)); ++i) {
    const auto photo = set.photos[i], edit = one.edits.edited[i];
    const auto difference = (128 + (edit.to(torch::kInt32) - photo.to(torch::kInt32))).clamp(0, 255).to(torch::kUInt8);
    for (const auto& image : {photo, edit, difference}) cells.push_back(image);
  }
  return picture(fmt::format("{}: photo, edit, difference (grey is none), in the direction that each is not", one.name),
                 grid(torch::stack(cells), {.columns = 12, .scale = 1}));
}

Json photos_json(const PhotosExperiment& job, const PhotoSet& set, const std::vector<AttributeEdits>& all, const PhotoMeasures& mean, double frechet,
                 double frechet_photos) {
  const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  Json edits = Json::array();
  for (const auto& one : all) {
    auto json = to_json(one.measures);
    json["attribute"] = one.name;
    edits.push_back(json);
  }
  return {{"photos", set.photos.size(0)}, {"split", job.held_out.split}, {"seed", job.seed}, {"fast", job.fast}, {"keep", job.keep.value_or(photo_keep)},
          {"every", job.guidance.every}, {"metric", job.guidance.metric}, {"mean", to_json(mean)}, {"edits", edits},
          {"same_person", number(set.same_person)}, {"strangers", number(set.strangers)}, {"frechet", frechet}, {"frechet_photos", frechet_photos},
          {"grid_of_photos", {number(set.grid[0]), number(set.grid[1]), number(set.grid[2])}}};
}

// Editing back, and two edits in either order: in a sentence, and in the JSON.
std::string undone(const PhotosExperiment& job, const PhotoSet& set, const BackProjector& g, const std::vector<AttributeEdits>& all, Json& json, Observer& observer) {
  if (!job.fast) return "";
  std::vector<Tensor> back;
  for (const auto& one : all) back.push_back(one.back);
  const auto rms = torch::cat(back);
  const auto mean = rms.mean().item<double>(), most = rms.max().item<double>();
  json["edited_back"] = {{"rms_mean", mean}, {"rms_most", most}};
  auto text = fmt::format(" Edited back to the photo's own outputs: RMS {:.3f} from the photo, at most {:.3f}.", mean, most);
  const auto find = [&](const char* name, std::size_t otherwise) {
    const auto found = std::ranges::find(all, name, &AttributeEdits::name);
    return found == all.end() ? all.begin() + static_cast<std::ptrdiff_t>(otherwise) : found;
  };
  if (all.size() < 2) return text;
  const auto a = find("Smiling", 0), b = find("Blond_Hair", a == all.begin() ? 1 : 0);
  const auto apart = either_order(job, set, g, *a, *b, observer);
  json["either_order"] = {{"attributes", {a->name, b->name}}, {"rms_mean", apart.mean().item<double>()}, {"rms_most", apart.max().item<double>()}};
  return text + fmt::format(" {} and {} in either order: RMS {:.3f} apart, at most {:.3f}.", a->name, b->name, apart.mean().item<double>(), apart.max().item<double>());
}

}  // namespace

ExperimentResult Engine::evaluate_photos(const PhotosExperiment& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  const auto set = open_photo_set(job, observer);
  const auto g = make_projector(set.models.classifier, job.guidance);
  const auto& names = set.models.names();
  std::vector<AttributeEdits> all;
  for (const auto& name : job.attributes.empty() ? photo_attributes : job.attributes) {
    if (job.attributes.empty() && std::ranges::find(names, name) == names.end()) continue;
    all.push_back(run_attribute(job, set, *g, name, observer));
    observer.message(fmt::format("{}: g {}, judge {}, RMS {:.3f}", name, percent(all.back().measures.by_g), percent(all.back().measures.by_judge), all.back().measures.rms));
    std::vector<std::string> files;
    for (std::int64_t i = 0; i < set.photos.size(0); ++i) files.push_back(fmt::format("{:03}-{}.png", i, name));
    save_images(job.output, files, all.back().edits.edited);
  }
  require(!all.empty(), "attributes", "one or more that the model has", "none");
  std::vector<PhotoMeasures> measures;
  std::vector<Tensor> features;
  for (const auto& one : all) measures.push_back(one.measures), features.push_back(one.edits.features_edited);
  const auto mean = mean_of(measures);
  const auto reference = gaussian_of(set.held_out_features);
  // As many edits as photos, taken evenly over the attributes: Fréchet distances of equal N.
  const auto edited = torch::cat(features);
  const auto n = set.photos.size(0);
  const auto spread = edited.index_select(0, (torch::arange(n, torch::kInt64) * (edited.size(0) + 1)).floor_divide(n).clamp_max(edited.size(0) - 1));
  const auto frechet = frechet_distance(gaussian_of(spread), reference), frechet_photos = frechet_distance(gaussian_of(set.opinion.features), reference);

  const auto table = photo_table(all, mean, fmt::format("Edits of {} photos of unseen people ({}), {}, measured on saved 8-bit PNG files", n, job.held_out.split,
                                                        way_in_words(job)));
  auto sentence = fmt::format("Grid of differences of photos: {:.2f}, {:.2f}, {:.2f}. Fréchet distance of edits {:.1f}, of the photos themselves {:.1f} ({} images each).",
                              set.grid[0], set.grid[1], set.grid[2], frechet, frechet_photos, n);
  if (std::isfinite(set.same_person)) sentence = fmt::format("Two photos of one person: identity {:.3f}, of two people {:.3f}. ", set.same_person, set.strangers) + sentence;
  auto json = photos_json(job, set, all, mean, frechet, frechet_photos);
  sentence += undone(job, set, *g, all, json, observer);
  ExperimentResult out{.summary = text_table(table) + sentence + "\n", .json = json.dump(2), .page = {}};
  if (!job.report.empty()) {
    ReportSection section{.name = fmt::format("photos-{}{}", job.held_out.split, job.fast ? "-fast" : ""), .title = "Edits of photos", .command = job.command, .order = 25,
                          .text = {sentence}, .tables = {table}, .charts = {}, .pictures = {}};
    for (const auto& one : all) section.pictures.push_back(photo_picture(set, one, job.shown));
    out.page = add_to_report(job.report, section).string();
  }
  return out;
}

}  // namespace spnn::engine
