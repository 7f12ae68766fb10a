#pragma once

// One client's socket, with a deadline. Only server.cpp includes this: Beast's headers take long to compile.

#include <utility>  // Boost 1.74's awaitable needs std::exchange and does not include it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace spnn::studio {

namespace net = boost::asio;
using Tcp = net::ip::tcp;
using ErrorCode = boost::system::error_code;

inline constexpr std::size_t kDrained = 1 << 20;  // of what a refused client still sends, so that it can read why

inline auto until(ErrorCode& error) { return net::redirect_error(net::use_awaitable, error); }

inline std::chrono::steady_clock::duration duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// A socket whose pending operation is cancelled at a deadline.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Tcp::socket socket, std::string peer)
      : socket(std::move(socket)), peer(std::move(peer)), timer_(this->socket.get_executor()) {}

  void arm(double seconds) {
    late = false;
    timer_.expires_after(duration(seconds));
    timer_.async_wait([weak = weak_from_this(), this, round = ++round_](ErrorCode error) {
      const auto alive = weak.lock();
      if (error || !alive || round != round_) return;
      late = true;
      ErrorCode ignored;
      socket.cancel(ignored);
    });
  }
  void disarm() {
    ++round_;
    timer_.cancel();
  }
  void close() {
    disarm();
    ErrorCode ignored;
    socket.close(ignored);
  }

  Tcp::socket socket;
  std::string peer;
  boost::beast::flat_buffer buffer;
  bool late = false;

 private:
  net::steady_timer timer_;
  std::uint64_t round_ = 0;
};

// Closing a socket with unread bytes resets it, and the client never reads the answer.
inline net::awaitable<void> say_goodbye(const std::shared_ptr<Connection>& connection) {
  ErrorCode error;
  connection->socket.shutdown(Tcp::socket::shutdown_send, error);
  connection->arm(2);
  std::vector<char> rest(16 << 10);
  for (std::size_t read = 0; !error && read < kDrained;)
    read += co_await connection->socket.async_read_some(net::buffer(rest), until(error));
  connection->disarm();
}

}  // namespace spnn::studio
