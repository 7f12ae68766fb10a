#pragma once

#include "bindings.h"

namespace spnn::python {

// A Python object that C++ may keep, call and drop without holding Python's lock.
class Held {
 public:
  explicit Held(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* o) {
          const py::gil_scoped_acquire locked;
          delete o;
        }) {}

  bool none() const {
    const py::gil_scoped_acquire locked;
    return object_->is_none();
  }

  template <class Result, class... Args>
  Result call(const Args&... args) const {
    const py::gil_scoped_acquire locked;
    return (*object_)(args...).template cast<Result>();
  }

  template <class... Args>
  void tell(const Args&... args) const {
    const py::gil_scoped_acquire locked;
    (*object_)(args...);
  }

 private:
  std::shared_ptr<py::object> object_;
};

}  // namespace spnn::python
