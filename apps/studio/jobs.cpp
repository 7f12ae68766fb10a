#include "jobs.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "guard.h"
#include "pictures.h"

namespace spnn::studio {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPreviewEvery = std::chrono::milliseconds(60);

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string error_json(const std::string& text) {
  return nlohmann::json{{"error", text}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::size_t count_waiting(const std::map<std::string, std::deque<std::shared_ptr<Job>>>& waiting) {
  std::size_t all = 0;
  for (const auto& [client, jobs] : waiting) all += jobs.size();
  return all;
}

}  // namespace

std::string sentence(const std::exception& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  return text.size() > 400 ? text.substr(0, 400) + "…" : text;
}

// ---- one job

std::vector<Event> Job::after(std::uint64_t last) const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> out;
  for (const auto& event : events_)
    if (event.id > last) out.push_back(event);
  return out;
}

std::string Job::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool Job::over() const {
  const auto now = state();
  return now != "queued" && now != "running";
}

std::string Job::picture() const {
  const std::lock_guard lock(mutex_);
  return picture_;
}

void Job::add(const std::string& name, const std::string& data) {
  const std::lock_guard lock(mutex_);
  // A watcher that comes late, or reads slowly, wants the newest of these: the others are dropped.
  if (name == "preview" || name == "progress" || name == "queued")
    std::erase_if(events_, [&](const Event& e) { return e.name == name; });
  if (name == "started") state_ = "running";
  events_.push_back({++last_, name, data});
}

void Job::end(const std::string& name, const std::string& data, std::string picture) {
  const std::lock_guard lock(mutex_);
  if (state_ == "done" || state_ == "failed" || state_ == "cancelled") return;
  std::erase_if(events_, [](const Event& e) { return e.name == "preview"; });
  state_ = name;
  picture_ = std::move(picture);
  work_ = nullptr;
  events_.push_back({++last_, name, data});
}

// ---- the queue

JobQueue::JobQueue(const Limits& limits, std::function<void()> changed)
    : limits_(limits), changed_(std::move(changed)), worker_([this] { run(); }) {}

JobQueue::~JobQueue() { stop(); }

void JobQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (running_) running_->watch_.cancel();
    for (auto& [client, jobs] : waiting_)
      for (const auto& job : jobs) job->end("cancelled", "{}");
    waiting_.clear();
    turns_.clear();
    questions_.clear();
  }
  wake_.notify_all();
  if (worker_.joinable() && worker_.get_id() != std::this_thread::get_id()) worker_.join();
}

std::shared_ptr<Job> JobQueue::add(const std::string& client, Work work) {
  auto job = std::make_shared<Job>(random_name(), client, std::move(work));
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Refusal{503, "jobs: expected a running server, got one that stops"};
    const auto all = count_waiting(waiting_);
    const auto found = waiting_.find(client);
    const auto own = found == waiting_.end() ? 0 : found->second.size();
    if (all >= limits_.queue || own >= limits_.queue_of_a_client) {
      const auto place = all + (running_ ? 1 : 0);
      throw Refusal{429,
                    "jobs: expected a place in the queue, got " + std::to_string(place) +
                        " jobs before this one; try again when some are done",
                    {{"Retry-After", "2"}},
                    "\"place\":" + std::to_string(place)};
    }
    jobs_[job->id] = job;
    if (own == 0) turns_.push_back(client);
    waiting_[client].push_back(job);
    job->place_ = std::string::npos;
    tell_places();
  }
  wake_.notify_all();
  return job;
}

std::shared_ptr<Job> JobQueue::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Job>> JobQueue::order() const {
  std::vector<std::shared_ptr<Job>> all;
  for (std::size_t round = 0; all.size() < count_waiting(waiting_); ++round)
    for (const auto& client : turns_)
      if (const auto& jobs = waiting_.at(client); round < jobs.size()) all.push_back(jobs[round]);
  return all;
}

void JobQueue::tell_places() {
  const std::size_t first = running_ ? 1 : 0;
  std::size_t at = first;
  for (const auto& job : order()) {
    const auto place = at++;
    if (job->place_ == place) continue;
    job->place_ = place;
    job->add("queued", "{\"place\":" + std::to_string(place) + "}");
  }
  changed_();
}

std::size_t JobQueue::place(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second->state() != "queued") return 0;
  return found->second->place_;
}

std::size_t JobQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return count_waiting(waiting_);
}

std::shared_ptr<Job> JobQueue::next() {
  if (turns_.empty()) return nullptr;
  const auto client = turns_.front();
  turns_.pop_front();
  auto& jobs = waiting_.at(client);
  auto job = jobs.front();
  jobs.pop_front();
  if (jobs.empty()) waiting_.erase(client);
  else turns_.push_back(client);
  return job;
}

void JobQueue::cancel(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    const auto job = found->second;
    job->watch_.cancel();
    if (const auto client = waiting_.find(job->client);
        client != waiting_.end() && std::erase(client->second, job) > 0) {
      if (client->second.empty()) {
        waiting_.erase(client);
        std::erase(turns_, job->client);
      }
      job->end("cancelled", "{}");
      finished(id);
      tell_places();
    }
  }
  changed_();
}

void JobQueue::ask(std::function<void()> question) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Refusal{503, "ask: expected a running server, got one that stops"};
    if (questions_.size() >= limits_.asks)
      throw Refusal{429, "ask: expected fewer questions at once, got a full list; try again", {{"Retry-After", "1"}}};
    questions_.push_back(std::move(question));
  }
  wake_.notify_all();
}

void JobQueue::answer_questions() {
  for (;;) {
    std::function<void()> question;
    {
      const std::lock_guard lock(mutex_);
      if (questions_.empty() || stopping_) return;
      question = std::move(questions_.front());
      questions_.pop_front();
    }
    question();
  }
}

void JobQueue::run() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || !questions_.empty() || !turns_.empty(); });
      if (stopping_) return;
      if (questions_.empty()) {
        job = next();
        running_ = job;
        tell_places();
      }
    }
    if (!job) {
      answer_questions();
      continue;
    }
    run_job(job);
    {
      const std::lock_guard lock(mutex_);
      running_ = nullptr;
      finished(job->id);
      tell_places();
    }
  }
}

void JobQueue::run_job(const std::shared_ptr<Job>& job) {
  const auto begin = Clock::now();
  auto last_preview = begin - kPreviewEvery;
  bool too_long = false;
  auto& watch = job->watch_;
  watch.on_progress = [&](std::int64_t done, std::int64_t total, const std::string&) {
    job->add("progress", nlohmann::json{{"done", done}, {"total", total}, {"seconds", since(begin)}}.dump());
    changed_();
    too_long = since(begin) > limits_.job_seconds;
    if (too_long) watch.cancel();
    answer_questions();
  };
  watch.on_preview = [&](const Preview& preview) {
    if (Clock::now() - last_preview < kPreviewEvery) return;
    last_preview = Clock::now();
    const engine::Image image{preview.width, preview.height, preview.channels, preview.pixels};
    job->add("preview", "{\"image\":\"" + base64(png(image)) + "\"}");
    changed_();
  };
  const auto work = job->work_;
  try {
    if (watch.cancelled()) throw Refusal{0, ""};
    job->add("started", "{}");
    changed_();
    auto made = work(watch);
    job->end("done", made.result, std::move(made.picture));
  } catch (const std::exception& error) {
    if (too_long)
      job->end("failed", error_json("the job took longer than " +
                                    std::to_string(static_cast<int>(limits_.job_seconds)) + " s and was stopped"));
    else if (watch.cancelled()) job->end("cancelled", "{}");
    else job->end("failed", error_json(sentence(error)));
  } catch (const Refusal& refusal) {
    if (watch.cancelled()) job->end("cancelled", "{}");
    else job->end("failed", error_json(refusal.error));
  } catch (...) { job->end("failed", error_json("an unknown error")); }
  watch.on_progress = {};
  watch.on_preview = {};
  changed_();
}

// A client that was told its job's number must find it, however many others end before it asks.
void JobQueue::finished(const std::string& id) {
  finished_.push_back({id, Clock::now()});
  while (finished_.size() > limits_.finished &&
         (finished_.size() > limits_.finished_at_most || since(finished_.front().at) > limits_.finished_seconds)) {
    jobs_.erase(finished_.front().id);
    finished_.pop_front();
  }
}

}  // namespace spnn::studio
