#include "server.h"

#include "connection.h"
#include "log.h"
#include "messages.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include <charconv>
#include <list>

namespace spnn::studio {
namespace {

constexpr auto kPingEvery = std::chrono::seconds(15);

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
