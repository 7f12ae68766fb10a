#pragma once

// What the files of the module share. Tensors pass as they are: torch's own casters hand over the object, not its data.

#include <spnn/checkpoint/models.h>
#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/observer.h>
#include <spnn/diffusion/denoiser.h>

#include <torch/csrc/utils/pybind.h>
#include <torch/types.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace spnn::python {

namespace py = pybind11;

// Mathematics runs without Python's lock, so that other threads go on.
using Unlocked = py::call_guard<py::gil_scoped_release>;

// [channels, height, width], as Python says it.
using ShapeTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
inline ShapeTuple tuple_of(const Shape& s) { return {s.channels, s.height, s.width}; }
inline Shape shape_of(const ShapeTuple& t) { return {std::get<0>(t), std::get<1>(t), std::get<2>(t)}; }

using DenoiserPtr = std::shared_ptr<Denoiser>;

// Absent tensors are None, not torch's undefined ones.
inline std::optional<Tensor> optional_of(const Tensor& t) { return t.defined() ? std::optional(t) : std::nullopt; }
inline Tensor tensor_of(const std::optional<Tensor>& t) { return t.value_or(Tensor()); }

// [y | z] as a pair.
using Pair = std::pair<Tensor, std::vector<Tensor>>;
inline Pair pair_of(Completion c) { return {std::move(c.y), std::move(c.z)}; }

// requires: a floating tensor like `like` in type and device, without NaN and infinity. Errors name `where`.
void require_input(const Tensor& x, const Tensor& like, std::string_view where);

// One number, or one per image as a tensor.
using Strength = std::variant<double, Tensor>;
Tensor lambda_of(const Strength& strength, const Tensor& x);

void bind_errors(py::module_& m);
void bind_network(py::module_& m);
void bind_images(py::module_& m);
void bind_operators(py::module_& m);
void bind_prior(py::module_& m);
void bind_restoration(py::module_& m);
void bind_training(py::module_& m);

}  // namespace spnn::python
