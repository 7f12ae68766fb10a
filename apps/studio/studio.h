#pragma once

// The studio without sockets: who may ask what, and what the answer is.

#include "application.h"
#include "work.h"

namespace spnn::studio {

class Studio final : public Application {
 public:
  // `changed` is called whenever a job has news, from any thread.
  Studio(Models models, Door door, const Limits& limits, std::function<void()> changed);

  std::optional<Refusal> refused(const Request& request) const override { return refused_at(door_, request); }
  std::size_t body_limit(const Request& request) const override;
  void handle(const Request& request, Reply reply) override;
  std::shared_ptr<Job> watched(const Request& request) const override;
  void stop() override { jobs_.stop(); }

 private:
  Response answer(const Request& request);
  Response jobs_route(const Request& request, const std::string& rest);
  Response photos_route(const Request& request, const std::string& rest);
  Response page(const Request& request) const;
  void ask(const std::string& what, const Request& request, const Reply& reply);

  const Limits limits_;
  const Door door_;
  const KnownModels known_;
  PhotoStore photos_;
  JobQueue jobs_;
  std::string description_;
};

MakeApplication studio_of(Models models, const Limits& limits);

}  // namespace spnn::studio
