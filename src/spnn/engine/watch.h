#pragma once

#include <spnn/core/observer.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace spnn::engine {

// An observer to hold in one hand while the work runs in the other: cancel() and the counts may be used from any thread.
// The callbacks are called by the working thread, one at a time.
class Watch final : public Observer {
 public:
  std::function<void(std::int64_t done, std::int64_t total, const std::string& what)> on_progress = {};
  std::function<void(const std::string&)> on_message = {};
  std::function<void(const Preview&)> on_preview = {};   // empty: previews are not made and cost nothing

  void cancel() { cancelled_ = true; }
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }

  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    const std::lock_guard lock(mutex_);
    done_ = done;
    total_ = total;
    if (on_progress) on_progress(done, total, what);
  }
  void message(const std::string& text) override {
    const std::lock_guard lock(mutex_);
    if (on_message) on_message(text);
  }
  void preview(const Preview& preview) override {
    const std::lock_guard lock(mutex_);
    if (on_preview) on_preview(preview);
  }
  bool wants_previews() const override { return static_cast<bool>(on_preview); }
  bool cancelled() const override { return cancelled_; }

 private:
  std::mutex mutex_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<std::int64_t> done_ = 0, total_ = 0;
};

}  // namespace spnn::engine
