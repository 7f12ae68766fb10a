#pragma once

#include <spnn/core/observer.h>

namespace spnn {

// Steps of several runs as one count, so that the time left is that of the whole work.
class PartOfWhole final : public Observer {
 public:
  PartOfWhole(Observer& whole, std::int64_t parts) : whole_(whole), parts_(parts) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& steps) override {
    whole_.progress(part * total + done, parts_ * total, what.empty() ? steps : what);
  }
  void message(const std::string& text) override { whole_.message(text); }
  void preview(const Preview& preview) override { whole_.preview(preview); }
  bool wants_previews() const override { return whole_.wants_previews(); }
  bool cancelled() const override { return whole_.cancelled(); }

  std::int64_t part = 0;    // the current one
  std::string what = {};    // it does; empty: what it says itself

 private:
  Observer& whole_;
  std::int64_t parts_;
};

}  // namespace spnn
