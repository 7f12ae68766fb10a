#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/errors.h>
#include <spnn/restoration/kept_batches.h>

#include <algorithm>
#include <thread>

namespace spnn {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr std::uint64_t kLongestWork = 1 << 20;

std::filesystem::path in_folder(const KeptConfig& config) {
  require(config.rank >= 0 && config.rank < config.size, "RANK", fmt::format("a number from 0 to {}", config.size - 1), std::to_string(config.rank));
  std::error_code error;
  std::filesystem::create_directories(config.folder, error);
  require(!error, config.folder.string(), "a folder that can be made", error.message());
  return config.folder / fmt::format("process-{}.lock", config.rank);
}

void require_same_work(const KeptConfig& config) {
  const auto file = config.folder / "work.txt";
  if (!std::filesystem::exists(file)) return write_atomically(file, config.work);
  const auto begun = read_text(file, kLongestWork);
  require(begun == config.work, config.folder.string(), fmt::format("the batches of '{}'", config.work), fmt::format("those of '{}'", begun),
          "take another folder for other work");
}

std::string key_of(std::size_t i) { return fmt::format("{:02}", i); }

void write_batch(const std::filesystem::path& file, const KeptBatches::Batch& batch) {
  TensorFile content{.tensors = {}, .metadata = {{"kind", "batch"}}};
  for (std::size_t i = 0; i < batch.size(); ++i) content.tensors.emplace(key_of(i), batch[i].to(torch::kCPU).contiguous());
  write_safetensors(file, content);
}

KeptBatches::Batch read_batch(const std::filesystem::path& file) {
  const auto content = read_safetensors(file);
  KeptBatches::Batch batch;
  for (std::size_t i = 0; i < content.tensors.size(); ++i) {
    const auto found = content.tensors.find(key_of(i));
    require(found != content.tensors.end(), file.string(), "a batch that was kept", "another file");
    batch.push_back(found->second);
  }
  return batch;
}

}  // namespace

struct KeptBatches::Stage {
  std::filesystem::path folder;
  std::int64_t number, count, batch;

  std::int64_t batches() const { return (count + batch - 1) / batch; }
  std::int64_t first(std::int64_t i) const { return i * batch; }
  std::int64_t last(std::int64_t i) const { return std::min(count, (i + 1) * batch); }
  std::filesystem::path file(std::int64_t i) const { return folder / fmt::format("{:03}-{:06}.safetensors", number, first(i)); }
  bool is_there(std::int64_t i) const { return std::filesystem::exists(file(i)); }
};

KeptBatches::KeptBatches(KeptConfig config)
    : config_(std::move(config)), alive_(in_folder(config_), config_.folder.string(), fmt::format("one process of rank {}", config_.rank)) {
  require_same_work(config_);
}

std::filesystem::path KeptBatches::lock_of(std::int64_t rank) const { return config_.folder / fmt::format("process-{}.lock", rank); }

void KeptBatches::run(std::int64_t count, std::int64_t batch, Observer& observer, const Make& make, const Take& take) {
  const Stage stage{.folder = config_.folder, .number = stages_++, .count = count, .batch = batch};
  const auto make_if_missing = [&](std::int64_t i) {
    if (!stage.is_there(i)) write_batch(stage.file(i), make(stage.first(i), stage.last(i)));
  };
  // Alone, a batch is taken as soon as it is made; with others, a process first makes its own, whatever becomes of the others.
  if (config_.size > 1) {
    for (auto i = config_.rank; i < stage.batches(); i += config_.size) make_if_missing(i);
  }
  for (std::int64_t i = 0; i < stage.batches(); ++i) {
    if (config_.size > 1) wait_for(stage, i, observer);
    else make_if_missing(i);
    take(stage.first(i), read_batch(stage.file(i)));
  }
}

void KeptBatches::wait_for(const Stage& stage, std::int64_t number, Observer& observer) const {
  const auto owner = number % config_.size;
  auto seen = std::chrono::steady_clock::now();
  while (!stage.is_there(number)) {
    if (observer.cancelled()) throw Interrupted(fmt::format("interrupted; what is done is kept in {}", config_.folder.string()));
    const auto now = std::chrono::steady_clock::now();
    if (lock_is_held(lock_of(owner))) seen = now;
    else if (now - seen > config_.patience) report_missing(stage, owner);
    std::this_thread::sleep_for(kLook);
  }
}

void KeptBatches::report_missing(const Stage& stage, std::int64_t gone) const {
  std::string missing;
  for (auto i = gone; i < stage.batches(); i += config_.size) {
    if (!stage.is_there(i)) missing += fmt::format("{}{} to {}", missing.empty() ? "" : ", ", stage.first(i) + 1, stage.last(i));
  }
  fail(config_.folder.string(), fmt::format("images {} of process {} (stage {})", missing, gone, stage.number + 1), "none: the process is gone",
       "start all of them again: only what is missing is made");
}

void in_batches(std::int64_t count, const Batching& batching, Observer& observer, const KeptBatches::Make& make, const KeptBatches::Take& take) {
  require(count >= 1, "images", "one or more", std::to_string(count));
  require(batching.size >= 1, "batch", "1 or more", std::to_string(batching.size));
  if (batching.kept) return batching.kept->run(count, batching.size, observer, make, take);
  for (std::int64_t first = 0; first < count; first += batching.size) take(first, make(first, std::min(first + batching.size, count)));
}

}  // namespace spnn
