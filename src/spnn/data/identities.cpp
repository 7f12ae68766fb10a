#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/data/identities.h>
#include <spnn/data/table.h>

#include <charconv>
#include <optional>

namespace spnn {
namespace {

std::optional<std::int64_t> person_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string picture_name(const std::string& file) { return std::filesystem::path(file).stem().string(); }

}  // namespace

Identities read_identities(const std::filesystem::path& file) {
  Identities identities;
  bool first = true;
  for (const auto& row : read_rows(read_text(file), Separator::blanks)) {
    const auto number = row.cells.size() == 2 ? person_number(row.cells[1]) : std::nullopt;
    const bool heading = first && row.cells.size() == 2 && !number;
    first = false;
    if (heading) continue;
    const auto where = fmt::format("{}:{}", file.string(), row.line);
    require(number.has_value(), where, "a picture's name and the number of a person", fmt::format("{} cells", row.cells.size()));
    require(identities.emplace(picture_name(row.cells[0]), *number).second, where, "every picture once", "'" + row.cells[0] + "' again");
  }
  require(!identities.empty(), file.string(), "lines of a picture's name and the number of a person", "none");
  return identities;
}

Tensor people_of(const Dataset& set, const Identities& identities) {
  std::vector<std::int64_t> people;
  for (const auto& file : set.files) {
    const auto found = identities.find(picture_name(file));
    require(found != identities.end(), set.name, "an identity of every image", "none of '" + file + "'");
    people.push_back(found->second);
  }
  return torch::tensor(people, torch::kInt64);
}

Dataset with_people(const Dataset& set, const Identities& identities, std::int64_t least) {
  const auto people = people_of(set, identities);
  std::map<std::int64_t, std::int64_t> images;   // of each person
  const auto* number = people.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < people.size(0); ++i) ++images[number[i]];
  std::map<std::int64_t, std::int64_t> classes;
  for (const auto& [person, count] : images) {
    if (count >= least) classes.emplace(person, std::ssize(classes));
  }
  Dataset out{.name = set.name, .split_rule = set.split_rule};
  std::vector<std::int64_t> kept, labels;
  for (std::int64_t i = 0; i < people.size(0); ++i) {
    const auto found = classes.find(number[i]);
    if (found == classes.end()) continue;
    kept.push_back(i);
    labels.push_back(found->second);
    out.files.push_back(set.files[static_cast<std::size_t>(i)]);
    if (!set.splits.empty()) out.splits.push_back(set.splits[static_cast<std::size_t>(i)]);
  }
  for (const auto& [person, label] : classes) out.attributes.push_back(std::to_string(person));
  out.images = std::ssize(kept) == set.size() ? set.images : set.images.index_select(0, torch::tensor(kept, torch::kInt64));
  out.labels = torch::tensor(labels, torch::kInt64);
  out.multi_label = false;
  return out;
}

}  // namespace spnn
