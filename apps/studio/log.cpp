#include "log.h"

namespace spnn::studio {

void Log::refused(const Request& request, const Response& response) {
  if (!write_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ > std::chrono::seconds(1)) {
    if (left_out_ > 0) write_("refused " + std::to_string(left_out_) + " more");
    second_ = now;
    lines_ = left_out_ = 0;
  }
  if (++lines_ > 10) {
    ++left_out_;
    return;
  }
  std::string path;
  for (const unsigned char c : request.path.substr(0, 80)) path += c > 32 && c < 127 ? static_cast<char>(c) : '?';
  write_("refused " + request.peer + " " + request.method.substr(0, 10) + " " + path + ": " +
         std::to_string(response.status) + " " + response.body.substr(0, 300));
}

}  // namespace spnn::studio
