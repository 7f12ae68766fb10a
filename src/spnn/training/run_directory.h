#pragma once

#include <spnn/core/config.h>
#include <spnn/core/io.h>
#include <spnn/core/shape.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spnn {

// Everything a run leaves behind, each file written beside its place and renamed:
//   run.json            configuration and command
//   state.safetensors   what an exact resume needs;  state.previous.safetensors the same, one checkpoint earlier
//   model.safetensors   the latest (averaged) weights, a model by itself;  best.safetensors the best by validation
//   record.csv          step, rate, loss parts, images per second;         validation.csv
//   .lock               held while a process trains here: a second one is refused
class RunDirectory {
 public:
  enum class Lock { take, held };   // held: by the session, or by the process that leads this one

  // resume: the directory must hold a run with this configuration (only the number of steps may differ); otherwise it
  // must not hold one yet.
  RunDirectory(std::filesystem::path path, const Json& run, bool resume, Lock lock = Lock::take);

  // The lock of a run, made with its directory where there is none. Throws if another process has it.
  static std::unique_ptr<FileLock> lock(const std::filesystem::path& path);

  std::filesystem::path file(const std::string& name) const { return path_ / name; }
  const Json& run() const { return run_; }

  // Appends a row; the first row of a file fixes its columns.
  void append(const std::string& csv, std::int64_t step, const std::vector<std::pair<std::string, double>>& row);
  // Drops rows of steps that will be run again.
  void truncate(const std::string& csv, std::int64_t first_step_to_drop);

 private:
  std::filesystem::path path_;
  Json run_;
  std::unique_ptr<FileLock> lock_;
};

}  // namespace spnn
