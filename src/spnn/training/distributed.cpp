#include <spnn/core/errors.h>
#include <spnn/training/distributed.h>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <chrono>

namespace spnn {
namespace {

class GlooCommunicator final : public Communicator {
 public:
  explicit GlooCommunicator(const ProcessGroupConfig& config) : share_{config.rank, config.size} {
    const std::chrono::milliseconds timeout(static_cast<std::int64_t>(config.timeout_seconds * 1000));
    c10d::TCPStoreOptions store;
    store.port = static_cast<std::uint16_t>(config.port);
    store.isServer = config.rank == 0;
    store.numWorkers = static_cast<std::size_t>(config.size);
    store.timeout = timeout;
    auto options = c10d::ProcessGroupGloo::Options::create();
    options->timeout = timeout;
    options->devices.push_back(config.address == "127.0.0.1" || config.address == "localhost"
                                   ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                   : c10d::ProcessGroupGloo::createDefaultDevice());
    try {
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::TCPStore>(config.address, store),
                                                           static_cast<int>(config.rank), static_cast<int>(config.size),
                                                           options);
    } catch (const std::exception& error) {
      fail(fmt::format("process {} of {}", config.rank, config.size),
           fmt::format("all processes at {}:{}", config.address, config.port), what_without_backtrace(error));
    }
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

  void barrier() override {
    wait([&] { return group_->barrier(); });
  }

 private:
  template <class Start>
  void wait(const Start& start) {
    try {
      start()->wait();
    } catch (const std::exception& error) {
      fail(fmt::format("process {} of {}", share_.rank, share_.size), "all processes of the group alive",
           what_without_backtrace(error), "--resume continues from the last checkpoint");
    }
  }

  Share share_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Communicator> join_process_group(const ProcessGroupConfig& config) {
  require(config.size >= 1 && config.rank >= 0 && config.rank < config.size, "process group",
          "0 ≤ RANK < WORLD_SIZE", fmt::format("{} of {}", config.rank, config.size));
  require(config.port > 0 && config.port < 65536, "process group", "a MASTER_PORT in 1…65535", std::to_string(config.port));
  if (config.size == 1) return std::make_unique<Communicator>();
  return std::make_unique<GlooCommunicator>(config);
}

}  // namespace spnn
