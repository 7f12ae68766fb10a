#include "server.h"

#include <utility>  // Boost 1.74's awaitable needs std::exchange and does not include it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <charconv>
#include <list>


namespace spnn::studio {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using Tcp = net::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr auto kPingEvery = std::chrono::seconds(15);
constexpr std::size_t kDrained = 1 << 20;  // of what a refused client still sends, so that it can read why

auto until(ErrorCode& error) { return net::redirect_error(net::use_awaitable, error); }

std::chrono::steady_clock::duration duration(double seconds) {
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

Request plain_request(const http::request<http::string_body>& message, const std::string& peer) {
  Request request;
  request.method = std::string(message.method_string());
  const auto target = std::string(message.target());
  request.path = target.substr(0, target.find_first_of("?#"));
  request.peer = peer;
  for (const auto& field : message) {
    auto name = std::string(field.name_string());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    auto& value = request.headers[name];
    value += (value.empty() ? "" : ", ") + std::string(field.value());
  }
  return request;
}

template <class Message>
void add_common_headers(Message& message, bool api) {
  message.set("X-Content-Type-Options", "nosniff");
  message.set("Content-Security-Policy", api ? "default-src 'none'; frame-ancestors 'none'"
                                             : "default-src 'none'; script-src 'self'; style-src 'self'; img-src "
                                               "'self' blob: data:; connect-src 'self'; base-uri 'none'; "
                                               "form-action 'none'; frame-ancestors 'none'");
  message.set("Cross-Origin-Resource-Policy", "same-origin");
  message.set("Cross-Origin-Opener-Policy", "same-origin");
  message.set("Referrer-Policy", "no-referrer");
  message.set("X-Frame-Options", "DENY");
  message.set(http::field::cache_control, "no-store");
}

Request nameless(const std::string& peer) {
  Request request;
  request.method = request.path = "?";
  request.peer = peer;
  return request;
}

Refusal read_failure(const ErrorCode& error, bool late) {
  if (late) return {408, "request: expected it in time, got it too slowly"};
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {431, "headers: expected fewer bytes, got too many"};
  if (error == http::error::body_limit) return {413, "body: expected fewer bytes, got too many"};
  return {400, "request: expected HTTP/1.1, got something else"};
}

// At most so many lines a second; what was left out is counted.
class Log {
 public:
  explicit Log(std::function<void(const std::string&)> write) : write_(std::move(write)) {}
  void refused(const Request& request, const Response& response) {
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

 private:
  std::function<void(const std::string&)> write_;
  std::chrono::steady_clock::time_point second_{};
  std::size_t lines_ = 0, left_out_ = 0;
};

}  // namespace

class Server::Implementation {
 public:
  Implementation(const MakeApplication& make, const ServerConfig& config)
      : config_(config), acceptor_(io_), signals_(io_), log_(config.log) {
    listen();
    Door door{{"localhost", "127.0.0.1", "[::1]"}, port(), random_name()};
    for (const auto& name : config.names) door.names.push_back(name);
    token = door.token;
    application_ = make(door, [this] { net::post(io_, [this] { wake_watchers(); }); });
    if (config.stop_on_signals) {
      signals_.add(SIGINT);
      signals_.add(SIGTERM);
      signals_.async_wait([this](ErrorCode error, int) {
        if (!error) stop_now();
      });
    }
    net::co_spawn(io_, accept(), net::detached);
  }
  ~Implementation() { application_->stop(); }

  int port() const { return port_; }
  void run() {
    io_.run();
    application_->stop();
  }
  void stop() {
    net::post(io_, [this] { stop_now(); });
  }

  std::string token;
  const ServerConfig config_;

 private:
  void listen() {
    ErrorCode error;
    const auto address = net::ip::make_address(config_.address, error);
    if (error) throw std::runtime_error("studio --address: expected an IP address, got '" + config_.address + "'");
    const Tcp::endpoint endpoint(address, static_cast<unsigned short>(config_.port));
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(net::socket_base::max_listen_connections, error);
    if (error)
      throw std::runtime_error("studio --port: expected a free port, got " + std::to_string(config_.port) + " (" +
                               error.message() + ")");
    port_ = acceptor_.local_endpoint().port();
  }

  void stop_now() {
    if (std::exchange(stopping_, true)) return;
    ErrorCode ignored;
    acceptor_.close(ignored);
    signals_.cancel(ignored);
    for (auto& weak : connections_)
      if (const auto connection = weak.lock()) connection->close();
    wake_watchers();
    application_->stop();
    io_.stop();
  }

  net::awaitable<void> accept() {
    while (!stopping_) {
      ErrorCode error;
      auto socket = co_await acceptor_.async_accept(until(error));
      if (stopping_) co_return;
      if (error) {  // out of descriptors, for instance: wait instead of spinning
        net::steady_timer pause(io_, std::chrono::milliseconds(50));
        co_await pause.async_wait(until(error));
        continue;
      }
      ErrorCode ignored;
      const auto peer = socket.remote_endpoint(ignored).address().to_string(ignored);
      socket.set_option(Tcp::no_delay(true), ignored);
      auto connection = std::make_shared<Connection>(std::move(socket), peer);
      connections_.remove_if([](const auto& weak) { return weak.expired(); });
      connections_.push_back(connection);
      net::co_spawn(io_, serve(connection, connections_.size() > config_.limits.connections), net::detached);
    }
  }

  net::awaitable<void> serve(std::shared_ptr<Connection> connection, bool too_many) {
    try {
      if (too_many) {
        const auto nobody = nameless(connection->peer);
        const Refusal full{503, "connections: expected fewer at once, got too many"};
        co_await turn_away(nobody, full, connection);
      } else {
        while (!stopping_ && co_await one_request(connection)) {}
      }
    } catch (const std::exception&) {  // the client is gone; nobody to tell
    }
    connection->close();
  }

  // Reads one request and answers it. True: the client may send another.
  net::awaitable<bool> one_request(const std::shared_ptr<Connection>& connection) {
    const auto& limits = config_.limits;
    ErrorCode error;
    if (connection->buffer.size() == 0) {  // waiting for a request may take long, sending one may not
      connection->arm(limits.idle_seconds);
      co_await connection->socket.async_wait(Tcp::socket::wait_read, until(error));
      if (error) co_return false;
    }
    connection->arm(limits.header_seconds);
    http::request_parser<http::string_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
    parser.body_limit(limits.photo_bytes);
    co_await http::async_read_header(connection->socket, connection->buffer, parser, until(error));
    if (error == http::error::end_of_stream ||
        (error && !connection->late && connection->buffer.size() == 0 && !is_parse_error(error)))
      co_return false;
    if (error) {
      const auto nobody = nameless(connection->peer);
      const auto failure = read_failure(error, connection->late);
      co_await turn_away(nobody, failure, connection);
      co_return false;
    }
    auto request = plain_request(parser.get(), connection->peer);
    if (auto refusal = refusal_of(request, parser)) {
      co_await turn_away(request, *refusal, connection);
      co_return false;
    }
    if (request.header("expect") == "100-continue") {
      static const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await net::async_write(connection->socket, net::buffer(go_on), until(error));
    }
    connection->arm(limits.body_seconds);
    if (!parser.is_done()) co_await http::async_read(connection->socket, connection->buffer, parser, until(error));
    if (error) {
      const auto failure = read_failure(error, connection->late);
      co_await turn_away(request, failure, connection);
      co_return false;
    }
    connection->disarm();
    const bool more = parser.get().keep_alive();
    request.body = std::move(parser.get().body());
    co_return co_await respond(request, connection, more);
  }

  // Says why, and closes. (GCC 12 destroys some temporaries of a co_await expression twice: arguments are named.)
  net::awaitable<void> turn_away(const Request& request, const Refusal& refusal,
                                 const std::shared_ptr<Connection>& connection) {
    const auto response = refuse(refusal);
    co_await send(request, response, connection, false);
  }

  static bool is_parse_error(const ErrorCode& error) {
    return error.category() == http::make_error_code(http::error::bad_method).category();
  }

  std::optional<Refusal> refusal_of(const Request& request, http::request_parser<http::string_body>& parser) {
    if (parser.get().version() != 11) return Refusal{505, "version: expected HTTP/1.1, got another"};
    if (parser.upgrade()) return Refusal{400, "Upgrade: expected none, got one"};
    if (auto refusal = application_->refused(request)) return refusal;
    const auto most = application_->body_limit(request);
    const auto length = parser.content_length();
    if (length && *length > most)
      return Refusal{413,
                     "body: expected at most " + std::to_string(most) + " bytes, got " + std::to_string(*length)};
    parser.body_limit(most);
    return {};
  }

  net::awaitable<bool> respond(const Request& request, const std::shared_ptr<Connection>& connection, bool more) {
    std::shared_ptr<Job> job;
    std::optional<Refusal> refusal;
    try {
      job = application_->watched(request);
    } catch (const Refusal& why) { refusal = why; }
    if (job) {
      co_await stream(request, job, connection);
      co_return false;
    }
    Response response;
    if (refusal) response = refuse(*refusal);
    else response = co_await answer(request);
    co_await send(request, response, connection, more);
    co_return more;
  }

  // The answer may come from the worker's thread: this coroutine sleeps until then.
  net::awaitable<Response> answer(const Request& request) {
    struct Waiting {
      explicit Waiting(net::io_context& io) : timer(io, net::steady_timer::time_point::max()) {}
      net::steady_timer timer;
      Response response;
      bool there = false;
    };
    auto waiting = std::make_shared<Waiting>(io_);
    application_->handle(request, [this, waiting](Response response) {
      net::post(io_, [waiting, response = std::move(response)]() mutable {
        waiting->response = std::move(response);
        waiting->there = true;
        waiting->timer.cancel();
      });
    });
    ErrorCode error;
    while (!waiting->there && !stopping_) co_await waiting->timer.async_wait(until(error));
    co_return std::move(waiting->response);
  }

  net::awaitable<void> send(const Request& request, const Response& response,
                            const std::shared_ptr<Connection>& connection, bool more) {
    if (response.status >= 400 && response.status != 404) log_.refused(request, response);
    http::response<http::string_body> message;
    message.version(11);
    message.result(static_cast<unsigned>(response.status));
    add_common_headers(message, request.path.starts_with("/api") || response.status >= 400);
    message.set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.keep_alive(more);
    message.body() = response.body;
    message.prepare_payload();
    http::response_serializer<http::string_body> serializer(message);
    ErrorCode error;
    connection->arm(config_.limits.write_seconds);
    if (request.method == "HEAD") co_await http::async_write_header(connection->socket, serializer, until(error));
    else co_await http::async_write(connection->socket, serializer, until(error));
    connection->disarm();
    if (error) throw std::runtime_error("gone");
    if (!more) co_await say_goodbye(connection);
  }

  // Closing a socket with unread bytes resets it, and the client never reads the answer.
  net::awaitable<void> say_goodbye(const std::shared_ptr<Connection>& connection) {
    ErrorCode error;
    connection->socket.shutdown(Tcp::socket::shutdown_send, error);
    connection->arm(2);
    std::vector<char> rest(16 << 10);
    for (std::size_t read = 0; !error && read < kDrained;)
      read += co_await connection->socket.async_read_some(net::buffer(rest), until(error));
    connection->disarm();
  }

  // Server-sent events from `Last-Event-ID` on, until the job is over or the client stops reading.
  net::awaitable<void> stream(const Request& request, const std::shared_ptr<Job>& job,
                              const std::shared_ptr<Connection>& connection) {
    std::uint64_t last = 0;
    const auto given = request.header("last-event-id");
    std::from_chars(given.data(), given.data() + given.size(), last);

    http::response<http::empty_body> head(http::status::ok, 11);
    add_common_headers(head, true);
    head.set(http::field::content_type, "text/event-stream");
    head.keep_alive(false);
    http::response_serializer<http::empty_body> serializer(head);
    ErrorCode error;
    connection->arm(config_.limits.write_seconds);
    co_await http::async_write_header(connection->socket, serializer, until(error));

    auto sleep = std::make_shared<net::steady_timer>(io_);
    watchers_.push_back(sleep);
    while (!error && !stopping_) {
      const bool over = job->over();
      std::string text;
      for (const auto& event : job->after(last)) {
        text += "id: " + std::to_string(event.id) + "\nevent: " + event.name + "\ndata: " + event.data + "\n\n";
        last = event.id;
      }
      if (text.empty() && over) break;
      if (text.empty()) {
        sleep->expires_after(kPingEvery);
        ErrorCode woken;
        co_await sleep->async_wait(until(woken));
        if (woken) continue;  // there is news
        text = ": still here\n\n";
      }
      connection->arm(config_.limits.write_seconds);
      co_await net::async_write(connection->socket, net::buffer(text), until(error));
    }
    watchers_.remove(sleep);
    connection->disarm();
    if (!error && !stopping_) co_await say_goodbye(connection);
  }

  void wake_watchers() {
    for (const auto& sleep : watchers_) sleep->cancel();
  }

  net::io_context io_{1};
  Tcp::acceptor acceptor_;
  net::signal_set signals_;
  int port_ = 0;
  bool stopping_ = false;
  Log log_;
  std::unique_ptr<Application> application_;
  std::list<std::weak_ptr<Connection>> connections_;
  std::list<std::shared_ptr<net::steady_timer>> watchers_;
};

Server::Server(const MakeApplication& make, const ServerConfig& config)
    : implementation_(std::make_unique<Implementation>(make, config)) {}
Server::~Server() = default;
int Server::port() const { return implementation_->port(); }
std::string Server::token() const { return implementation_->token; }
void Server::run() { implementation_->run(); }
void Server::stop() { implementation_->stop(); }

std::string Server::address() const {
  const auto& host = implementation_->config_.address;
  return "http://" + (host == "127.0.0.1" ? "localhost" : host) + ":" + std::to_string(port()) + "/";
}

}  // namespace spnn::studio
