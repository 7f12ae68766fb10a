#pragma once

// What a data set says about itself before any image is decoded: files, labels and splits. Internal to data/.

#include <spnn/core/errors.h>
#include <spnn/data/dataset.h>
#include <spnn/data/file_source.h>

#include <functional>

namespace spnn {

// Strict: the first problem is an Error. Lenient: problems are collected.
class Problems {
 public:
  explicit Problems(bool collect) : collect_(collect) {}
  void add(std::string_view where, std::string_view expected, std::string_view got);
  void add(const Error& error);
  std::vector<std::string> take() { return std::move(found_); }

 private:
  bool collect_;
  std::vector<std::string> found_;
};

struct Entry {
  std::string file = {};   // its name in the source
  std::string where = {};  // "table.txt:17", for messages
  Split split = Split::train;
  std::vector<float> labels = {};  // 0 or 1
};

struct Catalogue {
  std::string name = {};
  std::vector<std::string> attributes = {};
  std::vector<Entry> entries = {};
  std::string split_rule = {};
  std::optional<Box> crop = {};  // the layout's own
};

// Tables of attributes, with file names and splits as the table has them.
Catalogue read_celeba_table(const FileSource& source, const std::string& table, Problems& problems);
Catalogue read_csv_table(const FileSource& source, const std::string& table, Problems& problems);

// Recognises the layout, reads its tables, checks that the images are there and assigns the splits.
Catalogue read_catalogue(const FileSource& source, const std::string& csv, Problems& problems);

// 80/10/10 in the order of the entries.
void split_by_index(Catalogue& catalogue);

// The source behind a user's path, with the name of the CSV in it where the path is one.
struct Opened {
  std::unique_ptr<FileSource> source;
  std::string csv = {};
};
Opened open_dataset(const std::filesystem::path& path);

// Calls one(i) for every entry, from all threads, and returns what failed, entry by entry. Strict: stops soon
// after the first failure. Which failure comes first does not depend on timing.
std::vector<std::optional<Error>> for_each_entry(const Catalogue& catalogue, bool skip_bad,
                                                 Observer* observer,
                                                 const std::function<void(std::size_t)>& one);

// Fashion-MNIST and other sets in its format: IDX files, gzipped or not.
bool is_idx_folder(const FileSource& source);
Tensor parse_idx(std::span<const std::uint8_t> bytes, const std::string& name, std::size_t axes);
Dataset load_idx(const FileSource& source, const LoadOptions& options);

}  // namespace spnn
