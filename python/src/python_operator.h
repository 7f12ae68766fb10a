#pragma once

#include "held.h"

#include <spnn/operators/linear_operator.h>

namespace spnn::python {

// What a map written in Python brings along. `complete` and `invert` may be missing: then what g does not see of x is
// x − g†(g(x)), which is exact for linear maps and the paper's naive back-projection for others.
struct PythonMap {
  Held forward, pinv, complete, invert;
  std::string name;
  Shape in, out;
};

class PythonOperator final : public Operator {
 public:
  explicit PythonOperator(PythonMap map) : map_(std::move(map)), own_(!map_.complete.none() && !map_.invert.none()) {}

  Tensor forward(const Tensor& x) const override { return checked(map_.forward.call<Tensor>(x), map_.out, "forward"); }
  Tensor pinv(const Tensor& y) const override { return checked(map_.pinv.call<Tensor>(y), map_.in, "pinv"); }
  Completion complete(const Tensor& x) const override {
    if (own_) {
      auto [y, z] = map_.complete.call<Pair>(x);
      return {std::move(y), std::move(z)};
    }
    auto y = forward(x);
    auto unseen = x - pinv(y);
    return {std::move(y), {std::move(unseen)}};
  }
  Tensor invert(const Completion& yz) const override {
    return own_ ? checked(map_.invert.call<Tensor>(yz.y, yz.z), map_.in, "invert") : pinv(yz.y) + yz.z.at(0);
  }
  Shape in_shape() const override { return map_.in; }
  Shape out_shape() const override { return map_.out; }

 private:
  Tensor checked(Tensor t, const Shape& shape, const char* what) const {
    require_shape(t, shape, fmt::format("{}.{}", map_.name, what));
    return t;
  }

  PythonMap map_;
  bool own_;
};

// A linear map with its singular value decomposition, as four functions and the values.
struct PythonSvd {
  Held forward, pinv;
  Held Vt, V, Ut, U;
  Tensor S;
  std::string name;
  Shape in, out;
};

class PythonLinear final : public LinearOperator {
 public:
  explicit PythonLinear(PythonSvd svd) : LinearOperator(svd.name), svd_(std::move(svd)) { set_singular_values(svd_.S); }

  Tensor forward(const Tensor& x) const override { return svd_.forward.call<Tensor>(x); }
  Tensor pinv(const Tensor& y) const override { return svd_.pinv.call<Tensor>(y); }
  Tensor Vt(const Tensor& x) const override { return svd_.Vt.call<Tensor>(x); }
  Tensor V(const Tensor& v) const override { return svd_.V.call<Tensor>(v); }
  Tensor Ut(const Tensor& y) const override { return svd_.Ut.call<Tensor>(y); }
  Tensor U(const Tensor& u) const override { return svd_.U.call<Tensor>(u); }
  Shape in_shape() const override { return svd_.in; }
  Shape out_shape() const override { return svd_.out; }

 private:
  PythonSvd svd_;
};

}  // namespace spnn::python
