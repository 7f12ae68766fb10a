#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/data/file_source.h>
#include <spnn/image/image.h>

#include <algorithm>

namespace spnn {
namespace {

namespace fs = std::filesystem;

class Folder final : public FileSource {
 public:
  explicit Folder(const fs::path& root) : root_(root), name_(root.string()) {
    const auto options =
        fs::directory_options::follow_directory_symlink | fs::directory_options::skip_permission_denied;
    for (const auto& entry : fs::recursive_directory_iterator(root, options)) {
      if (entry.is_regular_file()) files_.push_back(entry.path().lexically_relative(root).generic_string());
    }
    std::sort(files_.begin(), files_.end());
  }

  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  FileBytes read(const std::string& file) const override { return FileBytes(read_text(root_ / file)); }

 private:
  fs::path root_;
  std::string name_;
  std::vector<std::string> files_;
};

}  // namespace

bool FileSource::has(const std::string& file) const {
  return std::binary_search(files().begin(), files().end(), file);
}

std::optional<std::string> FileSource::find(std::string_view file_name) const {
  std::optional<std::string> nearest;
  const auto depth = [](const std::string& file) { return std::count(file.begin(), file.end(), '/'); };
  for (const auto& file : files()) {
    const bool same =
        file == file_name || (file.ends_with(file_name) && file[file.size() - file_name.size() - 1] == '/');
    if (same && (!nearest || depth(file) < depth(*nearest))) nearest = file;
  }
  return nearest;
}

std::unique_ptr<FileSource> open_source(const fs::path& path) {
  require(fs::exists(path), path.string(), "a data set (folder, tar, .csv or the word fashion-mnist)",
          "nothing there");
  if (fs::is_directory(path)) return std::make_unique<Folder>(path);
  return open_tar(path);
}

}  // namespace spnn
