#include <spnn/engine/engine.h>
#include <spnn/jobs/write_json.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/data/dataset.h>
#include <spnn/data/summary.h>
#include <spnn/image/grid.h>

#include <algorithm>
#include <numeric>

namespace spnn::engine {
namespace {

Json to_json(const DataInfo& info) {
  Json parts = Json::object();
  for (const auto& part : info.parts) {
    Json rates = Json::object();
    for (std::size_t a = 0; a < info.attributes.size(); ++a) rates[info.attributes[a]] = part.rates[a];
    parts[part.split] = {{"images", part.images}, {"rates", rates}};
  }
  return {{"name", info.name},
          {"images", info.images},
          {"channels", info.channels},
          {"smallest", info.smallest},
          {"largest", info.largest},
          {"multi_label", info.multi_label},
          {"attributes", info.attributes},
          {"split_rule", info.split_rule},
          {"splits", parts},
          {"skipped", info.skipped}};
}

// Positions of the attributes to name in captions, the rarest first: they tell images apart.
std::vector<std::size_t> shown_attributes(const Dataset& dataset, const std::vector<std::string>& wanted) {
  std::vector<std::size_t> shown;
  for (const auto& name : wanted) {
    const auto found = std::find(dataset.attributes.begin(), dataset.attributes.end(), name);
    require(found != dataset.attributes.end(), "data sheet --attributes", "an attribute of the set",
            fmt::format("'{}'", name), "'spnn data info' lists them");
    shown.push_back(static_cast<std::size_t>(found - dataset.attributes.begin()));
  }
  if (!wanted.empty() || !dataset.multi_label) return shown;
  shown.resize(dataset.attributes.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  const Tensor rates = dataset.labels.mean(0);
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    return rates[std::int64_t(a)].item<float>() < rates[std::int64_t(b)].item<float>();
  });
  return shown;
}

constexpr std::size_t caption_lines = 4;  // file name and up to three attributes

std::vector<std::string> captions_of(const Dataset& dataset, const std::vector<std::string>& wanted) {
  const auto shown = shown_attributes(dataset, wanted);
  std::vector<std::string> captions;
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    std::string caption = std::filesystem::path(dataset.files[std::size_t(i)]).filename().string();
    if (!dataset.multi_label) {
      caption += "\n" + dataset.attributes[std::size_t(dataset.labels[i].item<std::int64_t>())];
    }
    std::size_t lines = 1;
    for (const auto a : shown) {
      if (dataset.multi_label && lines < caption_lines &&
          dataset.labels[i][std::int64_t(a)].item<float>() > 0.5f) {
        caption += "\n" + dataset.attributes[a];
        ++lines;
      }
    }
    captions.push_back(std::move(caption));
  }
  return captions;
}

}  // namespace

DataInfo Engine::data_info(const DataInfoJob& job, Observer& observer) {
  const Summary summary = summarize(job.data, job.skip_bad, &observer);
  DataInfo info{.name = summary.name,
                .split_rule = summary.split_rule,
                .attributes = summary.attributes,
                .multi_label = summary.multi_label,
                .images = summary.images(),
                .channels = summary.channels,
                .smallest = summary.smallest,
                .largest = summary.largest,
                .parts = {},
                .skipped = summary.skipped};
  for (std::size_t i = 0; i < summary.parts.size(); ++i) {
    const auto& part = summary.parts[i];
    info.parts.push_back({std::string(to_string(static_cast<Split>(i))), part.images, part.rates});
  }
  write_json(job.json, to_json(info));
  return info;
}

DataSheet Engine::data_sheet(const DataSheetJob& job, Observer& observer) {
  const Dataset dataset = load_dataset(
      job.data,
      {.split = split_from(job.split), .size = job.size, .skip_bad = job.skip_bad, .limit = job.count},
      &observer);
  constexpr std::int64_t readable = 96;  // a caption of 16 characters fits under an image of this width
  const std::int64_t scale = (readable + dataset.images.size(3) - 1) / dataset.images.size(3);
  const Tensor sheet = grid(
      dataset.images,
      {.columns = job.columns, .gap = 6, .scale = scale, .captions = captions_of(dataset, job.attributes)});
  write_image(job.output, sheet);
  return {dataset.size(), sheet.size(1), sheet.size(2), dataset.skipped};
}

}  // namespace spnn::engine
