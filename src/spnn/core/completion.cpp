#include <spnn/core/completion.h>
#include <spnn/core/errors.h>

namespace spnn {
namespace {

template <class Combine>
Completion zip(const Completion& a, const Completion& b, Combine&& combine) {
  require(a.z.size() == b.z.size(), "Completion", fmt::format("{} discarded parts", a.z.size()),
          fmt::format("{}", b.z.size()));
  Completion out{combine(a.y, b.y), {}};
  out.z.reserve(a.z.size());
  for (std::size_t l = 0; l < a.z.size(); ++l) out.z.push_back(combine(a.z[l], b.z[l]));
  return out;
}

}  // namespace

Completion operator+(const Completion& a, const Completion& b) {
  return zip(a, b, [](const Tensor& u, const Tensor& v) { return u + v; });
}

Completion operator-(const Completion& a, const Completion& b) {
  return zip(a, b, [](const Tensor& u, const Tensor& v) { return u - v; });
}

Completion operator*(const Tensor& lambda, const Completion& a) {
  Completion out{broadcast_over(lambda, a.y) * a.y, {}};
  for (const auto& z : a.z) out.z.push_back(broadcast_over(lambda, z) * z);
  return out;
}

Completion operator*(double lambda, const Completion& a) { return torch::scalar_tensor(lambda, a.y.options()) * a; }

Tensor squared_norm(const Completion& a) {
  Tensor sum = a.y.flatten(1).square().sum(1);
  for (const auto& z : a.z) sum = sum + z.flatten(1).square().sum(1);
  return sum;
}

Tensor broadcast_over(const Tensor& lambda, const Tensor& like) {
  if (lambda.dim() == 0) return lambda;
  require(lambda.dim() == 1 && lambda.size(0) == like.size(0), "lambda",
          fmt::format("a number or one per image ({})", like.size(0)), fmt::format("{} values", lambda.numel()));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(like.dim()), 1);
  sizes[0] = like.size(0);
  return lambda.view(sizes);
}

}  // namespace spnn
