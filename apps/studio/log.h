#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "http.h"

namespace spnn::studio {

// At most so many lines a second; what was left out is counted.
class Log {
 public:
  explicit Log(std::function<void(const std::string&)> write) : write_(std::move(write)) {}
  void refused(const Request& request, const Response& response);

 private:
  std::function<void(const std::string&)> write_;
  std::chrono::steady_clock::time_point second_{};
  std::size_t lines_ = 0, left_out_ = 0;
};

}  // namespace spnn::studio
