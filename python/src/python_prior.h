#pragma once

#include "held.h"

#include <spnn/diffusion/denoiser.h>

namespace spnn::python {

// A prior written in Python: eps(x_t, t).
class PythonDenoiser final : public Denoiser {
 public:
  PythonDenoiser(Held eps, const Shape& shape, Schedule schedule) : eps_(std::move(eps)), shape_(shape), schedule_(std::move(schedule)) {}

  Tensor eps(const Tensor& x_t, std::int64_t t) const override {
    auto noise = eps_.call<Tensor>(x_t, t);
    require_shape(noise, shape_, "the prior's eps");
    return noise;
  }
  Shape shape() const override { return shape_; }
  const Schedule& schedule() const override { return schedule_; }

 private:
  Held eps_;
  Shape shape_;
  Schedule schedule_;
};

// Progress goes to a Python function; between steps Python may handle its signals, so that Ctrl-C stops the work.
class PythonObserver final : public Observer {
 public:
  PythonObserver(Held progress, Held message) : progress_(std::move(progress)), message_(std::move(message)) {}

  void progress(std::int64_t done, std::int64_t total, const std::string& what) override {
    if (!progress_.none()) progress_.tell(done, total, what);
  }
  void message(const std::string& text) override {
    if (!message_.none()) message_.tell(text);
  }
  bool cancelled() const override {
    const py::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();   // KeyboardInterrupt, or what a handler raised
    return false;
  }

 private:
  Held progress_, message_;
};

}  // namespace spnn::python
