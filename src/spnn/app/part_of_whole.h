#pragma once

#include <spnn/core/observer.h>

namespace spnn::app {

// Steps of several runs as one count, so that the time left is that of the whole job.
class PartOfWhole final : public Observer {
 public:
  PartOfWhole(Observer& whole, std::int64_t parts) : whole_(whole), parts_(parts) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& steps) override {
    whole_.progress(part * total + done, parts_ * total, what.empty() ? steps : what);
  }
  void message(const std::string& text) override { whole_.message(text); }
  bool cancelled() const override { return whole_.cancelled(); }

  std::int64_t part = 0;    // the current one
  std::string what = {};    // it does; empty: what it says itself

 private:
  Observer& whole_;
  std::int64_t parts_;
};

}  // namespace spnn::app
