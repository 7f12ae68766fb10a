#pragma once

#include <cstdint>
#include <string>

namespace spnn {

// How long work reports and stops. The library calls; it never prints. All methods may be called often and are cheap.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(std::int64_t /*done*/, std::int64_t /*total*/, const std::string& /*what*/) {}
  virtual void message(const std::string& /*text*/) {}
  virtual bool cancelled() const { return false; }   // asked between steps; true ends the work with what is finished kept
};

}  // namespace spnn
