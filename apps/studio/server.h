#pragma once

// The sockets: HTTP/1.1 on Boost.Beast, one thread, coroutines. Everything that a client may do slowly has a
// deadline.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "application.h"

namespace spnn::studio {

struct ServerConfig {
  std::string address = "127.0.0.1";
  int port = 8080;                      // 0: any free one
  std::vector<std::string> names = {};  // more names that Host may have
  Limits limits = {};
  bool stop_on_signals = false;                      // SIGINT and SIGTERM
  std::function<void(const std::string&)> log = {};  // one line each
};

class Server {
 public:
  // Listens at once; throws with a sentence if the port is taken.
  Server(const MakeApplication& make, const ServerConfig& config);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string address() const;  // "http://localhost:8080/"
  std::string token() const;    // what the page carries
  void run();                   // until stop(): every connection is served by the calling thread
  void stop();                  // from any thread

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace spnn::studio
