#include <spnn/data/catalogue.h>
#include <spnn/data/table.h>

#include <unordered_map>

namespace spnn {
namespace {

std::string folder_of(const std::string& file) {
  const auto slash = file.rfind('/');
  return slash == file.npos ? "" : file.substr(0, slash + 1);
}

std::string at_line(const std::string& table, int line) {
  return fmt::format("{}:{}", table, line);
}

bool is_csv(const std::string& file) {
  return file.ends_with(".csv") || file.ends_with(".CSV");
}

std::vector<Row> rows_of(const FileSource& source, const std::string& table) {
  return read_rows(source.read(table).text(), is_csv(table) ? Separator::comma : Separator::blanks);
}

// −1 and 0 both say no.
std::optional<float> label(const std::string& cell) {
  if (cell == "1" || cell == "+1" || cell == "1.0") return 1.f;
  if (cell == "0" || cell == "-1" || cell == "0.0" || cell == "-1.0") return 0.f;
  return std::nullopt;
}

// Reads `row` = file, labels…, with the cell of column `split_column` (if any) left out of the labels.
std::optional<Entry> read_entry(const Row& row, const std::string& table,
                                const std::vector<std::string>& attributes, std::size_t split_column,
                                Problems& problems) {
  Entry entry{.file = row.cells[0], .where = at_line(table, row.line)};
  const std::size_t columns = 1 + attributes.size() + (split_column > 0 ? 1 : 0);
  if (row.cells.size() != columns) {
    problems.add(entry.where, fmt::format("{} columns (file and {})", columns, columns - 1),
                 std::to_string(row.cells.size()));
    return std::nullopt;
  }
  for (std::size_t i = 1; i < columns; ++i) {
    if (i == split_column) continue;
    const auto value = label(row.cells[i]);
    if (!value) {
      problems.add(entry.where, fmt::format("1, 0 or -1 for {}", attributes[entry.labels.size()]),
                   fmt::format("'{}'", row.cells[i]));
      return std::nullopt;
    }
    entry.labels.push_back(*value);
  }
  return entry;
}

// Drops entries whose image is not there or that were listed before.
void keep_present(Catalogue& catalogue, const FileSource& source, Problems& problems) {
  std::unordered_map<std::string, std::string> seen;
  std::vector<Entry> kept;
  for (auto& entry : catalogue.entries) {
    const auto [first, fresh] = seen.emplace(entry.file, entry.where);
    if (!fresh) {
      problems.add(entry.where, "each image once",
                   fmt::format("{} again (first at {})", entry.file, first->second));
    } else if (!source.has(entry.file)) {
      problems.add(entry.where, fmt::format("the image {} in {}", entry.file, source.name()),
                   "nothing there");
    } else {
      kept.push_back(std::move(entry));
    }
  }
  catalogue.entries = std::move(kept);
}

// CelebA's list_eval_partition: file → 0 train, 1 val, 2 test; as .txt, or as .csv with a header.
std::unordered_map<std::string, Split> read_partition(const FileSource& source, const std::string& table,
                                                      Problems& problems) {
  std::unordered_map<std::string, Split> partition;
  auto rows = rows_of(source, table);
  if (is_csv(table) && !rows.empty()) rows.erase(rows.begin());
  for (const auto& row : rows) {
    const std::string digit = row.cells.size() == 2 ? row.cells[1] : "";
    if (digit == "0" || digit == "1" || digit == "2") {
      partition[row.cells[0]] = static_cast<Split>(digit[0] - '0');
    } else {
      problems.add(at_line(table, row.line), "a file and 0, 1 or 2",
                   fmt::format("{} columns", row.cells.size()));
    }
  }
  return partition;
}

// CelebA-HQ's image number → file name in CelebA. The header of the table says which column is which.
std::unordered_map<std::string, std::string> read_mapping(const FileSource& source, const std::string& table,
                                                          Problems& problems) {
  std::unordered_map<std::string, std::string> original;
  for (const auto& row : rows_of(source, table)) {
    if (row.cells[0] == "idx") continue;
    if (row.cells.size() == 3) {
      original[row.cells[0] + ".jpg"] = row.cells[2];
    } else {
      problems.add(at_line(table, row.line), "3 columns (idx, orig_idx, orig_file)",
                   std::to_string(row.cells.size()));
    }
  }
  return original;
}

std::optional<std::string> find_either(const FileSource& source, const std::string& stem) {
  const auto text = source.find(stem + ".txt");
  return text ? text : source.find(stem + ".csv");
}

// Splits by CelebA's partition; `original` translates file names first when it is not empty.
void split_by_partition(Catalogue& catalogue, const FileSource& source, const std::string& table,
                        const std::unordered_map<std::string, std::string>& original, Problems& problems) {
  const auto partition = read_partition(source, table, problems);
  std::vector<Entry> kept;
  for (auto& entry : catalogue.entries) {
    std::string file = entry.file.substr(folder_of(entry.file).size());
    if (const auto mapped = original.find(file); mapped != original.end())
      file = mapped->second;
    else if (!original.empty())
      file.clear();
    const auto split = partition.find(file);
    if (split == partition.end()) {
      problems.add(entry.where, fmt::format("the split of {} in {}", entry.file, table), "no line for it");
      continue;
    }
    entry.split = split->second;
    kept.push_back(std::move(entry));
  }
  catalogue.entries = std::move(kept);
  catalogue.split_rule = "CelebA's partition (no person is in two splits)";
}

Catalogue celeba_hq(const FileSource& source, const std::string& table, Problems& problems) {
  auto catalogue = read_celeba_table(source, table, problems);
  catalogue.name = "CelebAMask-HQ";
  for (auto& entry : catalogue.entries) entry.file = folder_of(table) + "CelebA-HQ-img/" + entry.file;
  keep_present(catalogue, source, problems);
  const auto partition = find_either(source, "list_eval_partition");
  const auto mapping = source.find("CelebA-HQ-to-CelebA-mapping.txt");
  if (partition && mapping) {
    split_by_partition(catalogue, source, *partition, read_mapping(source, *mapping, problems), problems);
  } else {
    split_by_index(catalogue);
  }
  return catalogue;
}

Catalogue celeba(const FileSource& source, const std::string& table, Problems& problems) {
  auto catalogue =
      is_csv(table) ? read_csv_table(source, table, problems) : read_celeba_table(source, table, problems);
  catalogue.name = "CelebA";
  catalogue.crop = Box{.left = 10, .top = 37, .right = 168, .bottom = 195};  // the framing of CelebA-HQ
  std::string images = folder_of(table) + "img_align_celeba/";
  if (!catalogue.entries
           .empty()) {  // one archive in circulation nests the folder in itself, some keep lists apart
    if (const auto found = source.find("img_align_celeba/" + catalogue.entries.front().file))
      images = folder_of(*found);
  }
  for (auto& entry : catalogue.entries) entry.file = images + entry.file;
  keep_present(catalogue, source, problems);
  if (const auto partition = find_either(source, "list_eval_partition")) {
    split_by_partition(catalogue, source, *partition, {}, problems);
  } else {
    split_by_index(catalogue);
  }
  return catalogue;
}

Catalogue plain_folder(const FileSource& source, const std::string& csv, Problems& problems) {
  Catalogue catalogue;
  if (csv.empty()) {
    for (const auto& file : source.files()) {
      if (has_image_extension(file)) catalogue.entries.push_back({.file = file, .where = source.name()});
    }
  } else {
    catalogue = read_csv_table(source, csv, problems);
    for (auto& entry : catalogue.entries) entry.file = folder_of(csv) + entry.file;
  }
  catalogue.name = "folder";
  keep_present(catalogue, source, problems);
  if (catalogue.split_rule.empty()) split_by_index(catalogue);
  return catalogue;
}

// The one CSV of a folder; several are a question only the user can answer.
std::string find_csv(const FileSource& source) {
  std::string found;
  for (const auto& file : source.files()) {
    if (!is_csv(file) || file.find('/') != file.npos) continue;
    require(found.empty(), source.name(), "one CSV beside the images", fmt::format("{} and {}", found, file),
            "give the path of the CSV itself");
    found = file;
  }
  return found;
}

}  // namespace

void Problems::add(std::string_view where, std::string_view expected, std::string_view got) {
  if (!collect_) fail(where, expected, got, "--skip-bad leaves such entries out");
  found_.push_back(fmt::format("{}: expected {}, got {}", where, expected, got));
}

void Problems::add(const Error& error) {
  if (!collect_) throw error;
  found_.emplace_back(error.what());
}

void split_by_index(Catalogue& catalogue) {
  const std::size_t count = catalogue.entries.size(), val = count * 8 / 10, test = count * 9 / 10;
  for (std::size_t i = 0; i < count; ++i) {
    catalogue.entries[i].split = i < val ? Split::train : i < test ? Split::val : Split::test;
  }
  catalogue.split_rule = "by index, 80/10/10 (the same person may be in two splits)";
}

Catalogue read_celeba_table(const FileSource& source, const std::string& table, Problems& problems) {
  const auto rows = rows_of(source, table);
  require(rows.size() >= 2 && rows[0].cells.size() == 1, table,
          "a count in line 1, attribute names in line 2, then rows",
          rows.empty() ? "an empty file" : fmt::format("{} columns in line 1", rows[0].cells.size()));
  Catalogue catalogue{.attributes = rows[1].cells};
  if (rows[0].cells[0] != std::to_string(rows.size() - 2)) {
    problems.add(at_line(table, rows[0].line), fmt::format("the number of rows, {}", rows.size() - 2),
                 rows[0].cells[0]);
  }
  for (std::size_t i = 2; i < rows.size(); ++i) {
    if (auto entry = read_entry(rows[i], table, catalogue.attributes, 0, problems)) {
      catalogue.entries.push_back(std::move(*entry));
    }
  }
  return catalogue;
}

Catalogue read_csv_table(const FileSource& source, const std::string& table, Problems& problems) {
  const auto rows = rows_of(source, table);
  require(!rows.empty(), table, "a header: file,attribute,…", "an empty file");
  Catalogue catalogue;
  std::size_t split_column = 0;  // an optional column named "split"
  for (std::size_t i = 1; i < rows[0].cells.size(); ++i) {
    if (rows[0].cells[i] == "split")
      split_column = i;
    else
      catalogue.attributes.push_back(rows[0].cells[i]);
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    auto entry = read_entry(rows[i], table, catalogue.attributes, split_column, problems);
    if (!entry) continue;
    if (split_column > 0) {
      const auto& word = rows[i].cells[split_column];
      if (word != "train" && word != "val" && word != "test") {
        problems.add(entry->where, "train, val or test for split", fmt::format("'{}'", word));
        continue;
      }
      entry->split = split_from(word);
    }
    catalogue.entries.push_back(std::move(*entry));
  }
  if (split_column > 0) catalogue.split_rule = fmt::format("the split column of {}", table);
  return catalogue;
}

Catalogue read_catalogue(const FileSource& source, const std::string& csv, Problems& problems) {
  if (!csv.empty()) return plain_folder(source, csv, problems);
  if (const auto table = source.find("CelebAMask-HQ-attribute-anno.txt"))
    return celeba_hq(source, *table, problems);
  if (const auto table = find_either(source, "list_attr_celeba")) return celeba(source, *table, problems);
  return plain_folder(source, find_csv(source), problems);
}

}  // namespace spnn
