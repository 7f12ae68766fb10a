#include <spnn/core/errors.h>
#include <spnn/training/run_directory.h>

#include <algorithm>
#include <sstream>

namespace spnn {

std::unique_ptr<FileLock> RunDirectory::lock(const std::filesystem::path& path) {
  std::filesystem::create_directories(path);
  return std::make_unique<FileLock>(path / ".lock", path.string(), "a run in which nobody trains");
}

RunDirectory::RunDirectory(std::filesystem::path path, const Json& run, bool resume, Lock lock) : path_(std::move(path)), run_(run) {
  std::filesystem::create_directories(path_);
  if (lock == Lock::take) lock_ = RunDirectory::lock(path_);
  const auto stored = file("run.json");
  const bool exists = std::filesystem::exists(stored);
  if (exists && !resume) {
    fail(path_.string(), "a new or empty run directory", "one that holds a run", "add --resume to continue it");
  }
  if (!exists) {
    write_text_atomically(stored, run.dump(2) + "\n");
    return;
  }
  const auto before = read_config(stored).flatten(), now = run.flatten();
  for (const auto& [key, value] : now.items()) {
    if (key.ends_with("/train/steps") || before.value(key, Json()) == value) continue;
    fail(stored.string(), fmt::format("{} = {}, as the run was started", key, before.value(key, Json()).dump()),
         value.dump(), "an exact resume needs the same configuration; only --steps may change");
  }
}

void RunDirectory::append(const std::string& csv, std::int64_t step,
                          const std::vector<std::pair<std::string, double>>& row) {
  std::string text;
  if (!std::filesystem::exists(file(csv))) {
    text = "step";
    for (const auto& [name, value] : row) text += "," + name;
    text += "\n";
  }
  text += std::to_string(step);
  for (const auto& [name, value] : row) text += fmt::format(",{:.6g}", value);
  append_to_file(file(csv), text + "\n");
}

void RunDirectory::truncate(const std::string& csv, std::int64_t first_step_to_drop) {
  if (!std::filesystem::exists(file(csv))) return;
  std::istringstream in(read_text(file(csv)));
  std::string kept, line;
  std::ptrdiff_t columns = -1;
  while (std::getline(in, line)) {
    const auto commas = std::count(line.begin(), line.end(), ',');
    const bool header = columns < 0;
    if (header) columns = commas;
    const bool whole = commas == columns;   // a killed process may leave half a row
    if (header || (whole && std::atoll(line.c_str()) < first_step_to_drop)) kept += line + "\n";
  }
  write_text_atomically(file(csv), kept);
}

}  // namespace spnn
