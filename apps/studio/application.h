#pragma once

// What the sockets serve: all that server.cpp knows of the studio.

#include <functional>
#include <memory>
#include <optional>

#include "guard.h"
#include "jobs.h"

namespace spnn::studio {

class Application {
 public:
  using Reply = std::function<void(Response)>;
  virtual ~Application() = default;

  // May this request come in at all? Asked when its headers are there, before its body is read.
  virtual std::optional<Refusal> refused(const Request& request) const = 0;
  virtual std::size_t body_limit(const Request& request) const = 0;

  // Calls `reply` once, now or later, from any thread.
  virtual void handle(const Request& request, Reply reply) = 0;

  // The job whose events are asked for; null: the request is another one. Refusal 404.
  virtual std::shared_ptr<Job> watched(const Request& request) const = 0;

  virtual void stop() = 0;   // ends the work, and waits for it
};

// Makes the application once the port is known. `changed` is to be called whenever a job has news, from any thread.
using MakeApplication = std::function<std::unique_ptr<Application>(const Door& door, std::function<void()> changed)>;

}  // namespace spnn::studio
