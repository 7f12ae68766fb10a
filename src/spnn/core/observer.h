#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace spnn {

// An image on its way, x̂0 of one step: rows from the top, samples interleaved, one byte each.
struct Preview {
  std::int64_t image = 0;              // its number in the request, from 0
  std::string name;                    // of the file it will become
  std::int64_t step = 0, steps = 0;    // of its batch, from 1: images of one step come in order, and steps do
  std::int64_t t = 0;                  // of the training schedule
  std::int64_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
};

// How long work reports and stops. The library calls, from the thread that works; it never prints. All methods may be
// called often and are cheap. An observer that is used for two works at once, or asked from another thread, guards itself
// (engine/watch.h has one that does).
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(std::int64_t /*done*/, std::int64_t /*total*/, const std::string& /*what*/) {}
  virtual void message(const std::string& /*text*/) {}
  virtual void preview(const Preview& /*preview*/) {}
  virtual bool wants_previews() const { return false; }   // false: none are made
  virtual bool cancelled() const { return false; }        // asked between steps; true ends the work with what is finished kept
};

}  // namespace spnn
