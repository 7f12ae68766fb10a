#include <spnn/core/errors.h>
#include <spnn/training/rendezvous.h>

#include <sys/random.h>
#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <thread>

namespace spnn {
namespace {

constexpr std::string_view kFolderPrefix = ".ranks-", kNewSuffix = ".new", kAlive = "alive", kSize = "size";
constexpr std::uint64_t kLongestValue = 1 << 20;                    // an address of Gloo has hundreds of bytes
constexpr std::chrono::milliseconds kPause(20);

std::filesystem::path new_folder_in(const std::filesystem::path& run) {
  std::uint64_t number[2] = {};
  require(getrandom(number, sizeof number, 0) == sizeof number, run.string(), "random numbers of the system", "none");
  const auto folder = run / fmt::format("{}{:016x}{:016x}{}", kFolderPrefix, number[0], number[1], kNewSuffix);
  const bool made = mkdir(folder.c_str(), 0700) == 0;
  const int reason = errno;
  require(made, folder.string(), "a new folder", std::strerror(reason));
  return folder;
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& run) {
  std::vector<std::filesystem::path> found;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(run, unreadable)) {
    if (entry.path().filename().string().starts_with(kFolderPrefix)) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

Rendezvous::Rendezvous(RendezvousConfig config) : config_(std::move(config)) {
  if (config_.rank == 0) {
    open_folder();
  } else {
    wait_until([&] { return find_folder(); }, "process 0 in " + config_.run.string());
  }
  join();
}

Rendezvous::~Rendezvous() { close(); }

void Rendezvous::close() {
  std::error_code ignored;   // what cannot be removed is found abandoned by the next run
  if (alive_) std::filesystem::remove_all(folder_, ignored);
  alive_.reset();
}

// It gets the name under which others look for it when it is held and its size is in it: one who looked earlier, and
// asked whether it is held, would keep the lock from its owner for that moment.
void Rendezvous::open_folder() {
  std::filesystem::create_directories(config_.run);
  for (const auto& left : folders_in(config_.run)) {
    std::error_code ignored;
    std::filesystem::remove_all(left, ignored);
  }
  const auto fresh = new_folder_in(config_.run);
  write_atomically(fresh / kSize, std::to_string(config_.size));
  alive_ = std::make_unique<FileLock>(fresh / kAlive, fresh.string(), "a folder of this process");
  folder_ = fresh;
  folder_.replace_extension();
  std::filesystem::rename(fresh, folder_);
}

bool Rendezvous::find_folder() {
  for (const auto& folder : folders_in(config_.run)) {
    if (folder.extension() == kNewSuffix || !lock_is_held(folder / kAlive)) continue;
    folder_ = folder;
    return true;
  }
  return false;
}

void Rendezvous::join() {
  const auto where = fmt::format("process {} of {}", config_.rank, config_.size);
  const auto size = get(std::string(kSize));
  require(size == std::to_string(config_.size), where, fmt::format("WORLD_SIZE {}, as process 0 has it", size),
          std::to_string(config_.size));
  // A second process of one rank, perhaps of an earlier start: the folder takes each name once.
  const auto mine = place(fmt::format("rank-{}", config_.rank));
  const bool first = mkdir(mine.c_str(), 0700) == 0;
  const int reason = errno;
  require(first, where, "to be the only process of this rank",
          reason == EEXIST ? "another one in " + config_.run.string() : std::strerror(reason));
}

// Keys are other people's words: Gloo's hold slashes.
std::filesystem::path Rendezvous::place(const std::string& key) const {
  std::string name = "key-";
  for (const unsigned char c : key) name += std::isalnum(c) ? std::string(1, static_cast<char>(c)) : fmt::format("_{:02x}", c);
  return folder_ / (key == kSize ? key : name);
}

void Rendezvous::set(const std::string& key, std::string_view value) const { write_atomically(place(key), value); }

bool Rendezvous::has(const std::string& key) const {
  std::error_code missing;
  return std::filesystem::exists(place(key), missing);
}

void Rendezvous::wait(const std::string& key) const {
  wait_until([&] { return has(key); }, fmt::format("all {} processes in {}", config_.size, config_.run.string()));
}

std::string Rendezvous::get(const std::string& key) const {
  wait(key);
  return read_text(place(key), kLongestValue);
}

void Rendezvous::wait_until(const std::function<bool()>& ready, const std::string& expected) const {
  const auto where = fmt::format("process {} of {}", config_.rank, config_.size);
  const auto until = std::chrono::steady_clock::now() + config_.timeout;
  while (!ready()) {
    if (config_.cancelled()) throw Interrupted(where + ": interrupted before all processes were there");
    // Rank 0 removes the folder when it ends: nobody will come any more.
    const bool gone = !folder_.empty() && !alive_ && !lock_is_held(folder_ / kAlive);
    require(!gone, where, expected, "a process 0 that has ended");
    require(std::chrono::steady_clock::now() < until, where, expected, fmt::format("nobody for {} s", config_.timeout.count() / 1000));
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace spnn
