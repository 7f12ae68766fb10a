#pragma once

// One worker owns the models. Jobs wait in a fair queue (clients take turns), quick questions are answered between
// the steps of whatever runs, and what happens to a job is a list of numbered events that any number of watchers can
// read.

#include <spnn/engine/watch.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http.h"

namespace spnn::studio {

struct Event {
  std::uint64_t id = 0;
  std::string name, data;  // data: JSON in one line
};

// What a job leaves: the data of its event `done`, and a PNG file.
struct Made {
  std::string result, picture;
};
using Work = std::function<Made(engine::Watch& watch)>;

class Job {
 public:
  Job(std::string id, std::string client, Work work)
      : id(std::move(id)), client(std::move(client)), work_(std::move(work)) {}

  const std::string id, client;

  std::vector<Event> after(
      std::uint64_t last) const;  // events with a greater id; of previews only the newest is kept
  std::string state() const;      // queued, running, done, failed, cancelled
  bool over() const;
  std::string picture() const;  // empty until done

 private:
  friend class JobQueue;
  void add(const std::string& name, const std::string& data);
  void end(const std::string& name, const std::string& data, std::string picture = {});

  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::uint64_t last_ = 0;
  std::string state_ = "queued", picture_;
  std::size_t place_ = 0;
  Work work_;
  engine::Watch watch_;
};

class JobQueue {
 public:
  // `changed` is called after every event, from any thread.
  JobQueue(const Limits& limits, std::function<void()> changed);
  ~JobQueue();  // cancels everything and waits for the worker
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  // Refusal 429 with the place that it would have had, if the queue is full.
  std::shared_ptr<Job> add(const std::string& client, Work work);
  std::shared_ptr<Job> find(const std::string& id) const;  // null: never was, or is forgotten
  std::size_t place(const std::string& id) const;          // jobs before it, the running one among them
  void cancel(const std::string& id);

  // Runs `question` on the worker before the next job, or between two steps of this one. Refusal 429 if too many
  // wait.
  void ask(std::function<void()> question);

  std::size_t waiting() const;
  void stop();  // as the destructor does

 private:
  void run();
  void run_job(const std::shared_ptr<Job>& job);
  void answer_questions();
  std::shared_ptr<Job> next();  // of the client whose turn it is
  std::vector<std::shared_ptr<Job>> order() const;
  void tell_places();
  void finished(const std::string& id);

  const Limits limits_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::deque<std::string> turns_;                                    // clients that have jobs waiting
  std::map<std::string, std::deque<std::shared_ptr<Job>>> waiting_;  // by client
  std::map<std::string, std::shared_ptr<Job>> jobs_;                 // all that are known
  struct Finished {
    std::string id;
    std::chrono::steady_clock::time_point at;
  };
  std::deque<Finished> finished_;
  std::shared_ptr<Job> running_;
  std::deque<std::function<void()>> questions_;
  std::thread worker_;
};

// The first line of what went wrong, short enough for a person.
std::string sentence(const std::exception& error);

}  // namespace spnn::studio
