#pragma once

// A client that sends what it is told, byte by byte if need be: browsers never would.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace spnn::studio::test {

struct Answer {
  int status = 0;  // 0: the server closed without a word
  std::string head, body;
  bool has(const std::string& text) const { return head.find(text) != std::string::npos; }
};

class Wire {
 public:
  explicit Wire(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("no connection");
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Wire() { close(); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  bool send(std::string_view text) {
    while (!text.empty()) {
      const auto sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // More of what the server says; false: it closed, or said nothing for so long.
  bool read_some(std::string& into, int milliseconds = 10000) {
    pollfd waiting{socket_, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) <= 0) return false;
    char bytes[65536];
    const auto got = recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    into.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  // One answer with a Content-Length, or all until the server closes.
  Answer read(int milliseconds = 10000) {
    auto& text = kept_;
    for (;;) {
      if (const auto end = text.find("\r\n\r\n"); end != std::string::npos) {
        const auto at = text.find("Content-Length: ");
        const auto length = at < end ? std::stoul(text.substr(at + 16)) : std::string::npos;
        if (length != std::string::npos && text.size() >= end + 4 + length) {
          Answer answer{std::stoi(text.substr(9, 3)), text.substr(0, end + 2), text.substr(end + 4, length)};
          text.erase(0, end + 4 + length);
          return answer;
        }
      }
      if (!read_some(text, milliseconds)) break;
    }
    Answer answer;
    if (text.starts_with("HTTP/1.1 ")) {
      const auto end = text.find("\r\n\r\n");
      answer = {std::stoi(text.substr(9, 3)), text.substr(0, end),
                end == std::string::npos ? "" : text.substr(end + 4)};
    }
    text.clear();
    return answer;
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
  std::string kept_;
};

}  // namespace spnn::studio::test
