#pragma once

#include <spnn/core/observer.h>
#include <spnn/diffusion/sampler.h>

#include <string>
#include <vector>

namespace spnn {

// Shows what takes the place of x̂0 at every step to an observer that wants previews; `correction` itself for any other.
Correction with_previews(Correction correction, Observer& observer, std::int64_t first = 0, std::vector<std::string> names = {});

// Work on some of the images that an observer watches: previews of its image i are of image numbers[i], whose name is names[i], or its number. Where
// it is one of several runs, its steps follow the `before` that are done, of `all`.
class SomeImages final : public Observer {
 public:
  SomeImages(Observer& whole, std::vector<std::int64_t> numbers, std::vector<std::string> names = {})
      : whole_(whole), numbers_(std::move(numbers)), names_(std::move(names)) {}
  void progress(std::int64_t done, std::int64_t total, const std::string& what) override { whole_.progress(before + done, all > 0 ? all : total, what); }
  void message(const std::string& text) override { whole_.message(text); }
  void preview(const Preview& preview) override;
  bool wants_previews() const override { return whole_.wants_previews(); }
  bool cancelled() const override { return whole_.cancelled(); }

  std::int64_t before = 0, all = 0;   // all 0: one run by itself

 private:
  Observer& whole_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace spnn
