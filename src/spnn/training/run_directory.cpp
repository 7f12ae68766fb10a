#include <spnn/core/errors.h>
#include <spnn/training/run_directory.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace spnn {

RunDirectory::RunDirectory(std::filesystem::path path, const Json& run, bool resume) : path_(std::move(path)) {
  std::filesystem::create_directories(path_);
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

bool RunDirectory::has_state() const { return std::filesystem::exists(file("state.safetensors")); }

void RunDirectory::append(const std::string& csv, std::int64_t step,
                          const std::vector<std::pair<std::string, double>>& row) {
  const bool fresh = !std::filesystem::exists(file(csv));
  std::ofstream out(file(csv), std::ios::app);
  if (fresh) {
    out << "step";
    for (const auto& [name, value] : row) out << ',' << name;
    out << '\n';
  }
  out << step;
  for (const auto& [name, value] : row) out << ',' << fmt::format("{:.6g}", value);
  out << '\n';
  require(out.good(), file(csv).string(), "a writable file", "a write that failed");
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
