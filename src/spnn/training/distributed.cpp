#include <spnn/core/errors.h>
#include <spnn/training/distributed.h>
#include <spnn/training/rendezvous.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <chrono>
#include <optional>

namespace spnn {
namespace {

using namespace std::chrono_literals;
constexpr auto kAnswerWithin = 10s;   // of an interruption

// The meeting place as c10d asks for it. Gloo sets, waits and gets.
class RendezvousStore final : public c10d::Store {
 public:
  RendezvousStore(const Rendezvous& place, std::chrono::milliseconds timeout) : Store(timeout), place_(place) {}

  void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
    place_.set(key, {reinterpret_cast<const char*>(value.data()), value.size()});
  }
  std::vector<std::uint8_t> get(const std::string& key) override {
    const auto text = place_.get(key);
    return {text.begin(), text.end()};
  }
  bool check(const std::vector<std::string>& keys) override {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) { return place_.has(key); });
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const auto& key : keys) place_.wait(key);
  }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override { wait(keys); }
  std::int64_t add(const std::string&, std::int64_t) override { not_here("add"); }
  bool deleteKey(const std::string&) override { not_here("deleteKey"); }
  std::int64_t getNumKeys() override { not_here("getNumKeys"); }
  // Later libtorch 2.x asks for it, 1.13 does not know it: no `override`.
  c10::intrusive_ptr<c10d::Store> clone() { return c10::make_intrusive<RendezvousStore>(place_, timeout_); }

 private:
  [[noreturn]] static void not_here(const char* what) { fail("rendezvous", "set, get and wait", what); }
  const Rendezvous& place_;
};

class GlooCommunicator final : public Communicator {
 public:
  explicit GlooCommunicator(const ProcessGroupConfig& config) : share_{config.rank, config.size}, cancelled_(config.cancelled) {
    const std::chrono::milliseconds timeout(static_cast<std::int64_t>(config.timeout_seconds * 1000));
    Rendezvous place({.run = config.run, .rank = config.rank, .size = config.size, .timeout = timeout, .cancelled = config.cancelled});
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->timeout = timeout;
    options->devices.push_back(config.one_machine ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                                  : c10d::ProcessGroupGloo::createDefaultDevice());
    try {
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<RendezvousStore>(place, timeout),
                                                           static_cast<int>(config.rank), static_cast<int>(config.size),
                                                           options);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail(name(), "a connection to all processes of the group", what_without_backtrace(error));
    }
    barrier();   // all have read what they need
  }

  Share share() const override { return share_; }

  // One buffer for all tensors: one message instead of hundreds.
  void average(std::vector<Tensor>& tensors) override {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> flat;
    for (const auto& value : tensors) flat.push_back(value.reshape({-1}));
    std::vector<Tensor> buffer{torch::cat(flat)};
    wait([&] { return group_->allreduce(buffer); });
    buffer.front().div_(static_cast<double>(share_.size));
    std::int64_t from = 0;
    for (auto& value : tensors) {
      value.copy_(buffer.front().narrow(0, from, value.numel()).view_as(value));
      from += value.numel();
    }
  }

  std::vector<std::vector<double>> gather(const std::vector<double>& mine) override {
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> table{torch::zeros({share_.size, static_cast<std::int64_t>(mine.size())}, torch::kFloat64)};
    table.front()[share_.rank] = torch::tensor(mine, torch::kFloat64);
    wait([&] { return group_->allreduce(table); });
    std::vector<std::vector<double>> rows;
    for (std::int64_t rank = 0; rank < share_.size; ++rank) {
      const auto row = table.front()[rank].contiguous();
      rows.emplace_back(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    }
    return rows;
  }

  void barrier() override {
    wait([&] { return group_->barrier(); });
  }

 private:
  std::string name() const { return fmt::format("process {} of {}", share_.rank, share_.size); }

  // Gloo's own wait ends after half an hour and hears no signal: this one looks up every second.
  template <class Start>
  void wait(const Start& start) {
    require(static_cast<bool>(group_), name(), "a group to talk to", "one that was left");
    try {
      const auto work = start();
      std::optional<std::chrono::steady_clock::time_point> since;
      while (!ended_within_a_second(*work)) {
        if (!cancelled_()) continue;
        if (!since) since = std::chrono::steady_clock::now();
        if (std::chrono::steady_clock::now() - *since > kAnswerWithin) leave();
      }
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      fail(name(), "all processes of the group alive", what_without_backtrace(error), "--resume continues from the last checkpoint");
    }
  }

  static bool ended_within_a_second(c10d::Work& work) {
    try {
      return work.wait(1s);
    } catch (const std::exception&) {
      if (work.isCompleted()) throw;   // it failed; otherwise the second is over
      return false;
    }
  }

  // Its destructor would wait for the others until the timeout: it is left as it is, to the end of the process.
  [[noreturn]] void leave() {
    group_.release();
    throw Interrupted(name() + ": interrupted while the other processes did not answer; --resume continues from the last checkpoint");
  }

  Share share_;
  std::function<bool()> cancelled_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> join_process_group(const ProcessGroupConfig& config) {
  require(config.size >= 1 && config.rank >= 0 && config.rank < config.size, "process group",
          "0 ≤ RANK < WORLD_SIZE", fmt::format("{} of {}", config.rank, config.size));
  if (config.size == 1) return std::make_unique<Communicator>();
  return std::make_unique<GlooCommunicator>(config);
}

}  // namespace spnn
