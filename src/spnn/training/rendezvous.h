#pragma once

#include <spnn/core/io.h>

#include <chrono>
#include <functional>
#include <memory>

namespace spnn {

struct RendezvousConfig {
  std::filesystem::path run;              // the run directory; processes of several machines share it
  std::int64_t rank = 0, size = 1;
  std::chrono::milliseconds timeout;
  std::function<bool()> cancelled = [] { return false; };
};

// Where the processes of a run find each other: a folder in the run directory that only its owner can enter, a file per key.
// No port is opened, and who cannot read the run directory cannot join. The process of rank 0 makes the folder and holds
// it while it lives: what a killed one left is known by that nobody holds it.
// requires: rank 0 holds the run's lock, so that there is one such folder.
class Rendezvous {
 public:
  // Returns when the folder is there and this rank is in it. Throws when the group has another size, when another process
  // has this rank, when `cancelled` or when the time is over.
  explicit Rendezvous(RendezvousConfig config);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  void set(const std::string& key, std::string_view value) const;
  std::string get(const std::string& key) const;   // waits for it
  bool has(const std::string& key) const;
  void wait(const std::string& key) const;
  void close();                                    // all are there: rank 0 removes the folder

 private:
  void open_folder();
  bool find_folder();
  void join();
  std::filesystem::path place(const std::string& key) const;
  void wait_until(const std::function<bool()>& ready, const std::string& expected) const;

  RendezvousConfig config_;
  std::filesystem::path folder_;
  std::unique_ptr<FileLock> alive_;
};

}  // namespace spnn
