#pragma once

#include <spnn/core/observer.h>
#include <spnn/diffusion/sampler.h>

#include <string>
#include <vector>

namespace spnn {

// Shows what takes the place of x̂0 at every step to an observer that wants previews; `correction` itself for any other.
Correction with_previews(Correction correction, Observer& observer, std::int64_t first = 0, std::vector<std::string> names = {});

// Work on some of the images that an observer watches: previews of its image i are of image numbers[i], whose name is names[i], or its number.
class SomeImages final : public Observer {
 public:
  enum class Progress { told, silent };   // silent: of runs whose steps nobody can add up in advance
  SomeImages(Observer& whole, std::vector<std::int64_t> numbers, Progress progress, std::vector<std::string> names = {})
      : whole_(whole), numbers_(std::move(numbers)), names_(std::move(names)), progress_(progress) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    if (progress_ == Progress::told) whole_.progress(done, total, what);
  }
  void message(const std::string& text) override { whole_.message(text); }
  void preview(const Preview& preview) override;
  bool wants_previews() const override { return whole_.wants_previews(); }
  bool cancelled() const override { return whole_.cancelled(); }

 private:
  Observer& whole_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> names_;
  Progress progress_;
};

}  // namespace spnn
