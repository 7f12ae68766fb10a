#include "network.h"

#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/networks/presets.h>
#include <spnn/projection/verify.h>

namespace spnn::python {

Network::Network(SpnnModel loaded) : model(std::move(loaded)) {
  const auto all = model.net->parameters();
  weight = all.empty() ? torch::empty({0}) : all.front();
}

namespace {

constexpr std::uint64_t kTrainersStart = 1;   // the stream of the seed from which the classifier's trainer draws its start

using Named = std::vector<std::pair<std::string, Tensor>>;
using Row = std::tuple<std::string, Named, Named>;   // path, parameters, buffers

Named named(const torch::OrderedDict<std::string, Tensor>& tensors) {
  Named out;
  for (const auto& item : tensors) out.emplace_back(item.key(), item.value());
  return out;
}

// The tensors of every module below `root`, by path: what the nn.Module in Python is made of.
std::vector<Row> tree_of(const torch::nn::Module& root) {
  std::vector<Row> rows;
  rows.emplace_back("", named(root.named_parameters(false)), named(root.named_buffers(false)));
  for (const auto& item : root.named_modules("", /*include_self=*/false)) {
    rows.emplace_back(item.key(), named(item.value()->named_parameters(false)), named(item.value()->named_buffers(false)));
  }
  return rows;
}

NetworkPtr build(const std::string& config) {
  SpnnModel model;
  model.net = std::make_shared<Spnn>(spnn_from_json(Json::parse(config), "Spnn"));
  return std::make_shared<Network>(std::move(model));
}

// What a model file says of the network beside its weights; the same texts carry it into copies.
std::map<std::string, std::string> metadata_of(const Network& n) {
  const auto& outputs = n.model.outputs;
  std::map<std::string, std::string> out{{"kind", "spnn"}, {"architecture", to_json(n.net().config()).dump()}, {"task", outputs.task}};
  if (!outputs.names.empty()) out["attributes"] = Json(outputs.names).dump();
  if (!outputs.exclusive.empty()) out["exclusive"] = Json(outputs.exclusive).dump();
  if (!n.model.windows.empty()) out["guidance"] = to_json(n.model.windows).dump();
  return out;
}

void set_metadata(Network& n, const std::map<std::string, std::string>& said) {
  auto& outputs = n.model.outputs;
  outputs.task = said.at("task");
  if (said.contains("attributes")) outputs.names = Json::parse(said.at("attributes")).get<std::vector<std::string>>();
  if (said.contains("exclusive")) outputs.exclusive = Json::parse(said.at("exclusive")).get<std::vector<std::vector<std::string>>>();
  n.model.windows = guidance_windows_in(said, "Spnn");
}

void save(const Network& n, const std::filesystem::path& file) {
  TensorFile out{state_of(n.net()), metadata_of(n)};
  const std::pair<const char*, Tensor> statistics[] = {
      {"statistics.mean", n.model.mean}, {"statistics.covariance", n.model.covariance}, {"statistics.exemplars", n.model.exemplars},
      {"statistics.places", n.model.places}};
  for (const auto& [name, value] : statistics) {
    if (value.defined()) out.tensors[name] = value.to(torch::kFloat32);
  }
  write_safetensors(file, out);
}

// It lives for one call, so that no weight changes under it; its constants, such as q(0), carry gradients too.
SpnnProjector projector(const Network& n, const std::string& pseudo_inverse, const std::string& metric) {
  return SpnnProjector(n.model.net, {.pseudo_inverse = pseudo_inverse_from(pseudo_inverse), .metric = metric_from(metric)});
}

Tensor forward(const Network& n, const Tensor& x) {
  require_input(x, n.weight, "Spnn");
  return n.net().forward(x);
}

Pair complete(const Network& n, const Tensor& x, const std::string& pseudo_inverse, const std::string& metric) {
  require_input(x, n.weight, "Spnn");
  if (metric == "plain") return pair_of(n.net().complete(x));
  return pair_of(projector(n, pseudo_inverse, metric).complete(x));
}

Tensor invert(const Network& n, const Tensor& y, const std::vector<Tensor>& z, const std::string& pseudo_inverse,
              const std::string& metric) {
  require_input(y, n.weight, "Spnn inverse");
  for (const auto& part : z) require_input(part, n.weight, "Spnn inverse, z");
  if (metric == "plain") return n.net().invert({y, z});
  return projector(n, pseudo_inverse, metric).invert({y, z});
}

Tensor pinv(const Network& n, const Tensor& y, const std::string& pseudo_inverse) {
  require_input(y, n.weight, "Spnn inverse");
  if (pseudo_inverse == "learned") return n.net().pinv(y);
  return projector(n, pseudo_inverse, "plain").pinv(y);
}

Tensor nlbp(const Network& n, const Tensor& x, const Tensor& y, const Strength& strength, const std::string& metric,
            const std::string& pseudo_inverse) {
  require_input(x, n.weight, "nlbp");
  require_input(y, n.weight, "nlbp target");
  const auto g = projector(n, pseudo_inverse, metric);
  require_shape(x, g.in_shape(), "nlbp");
  require_shape(y, g.out_shape(), "nlbp target");
  require(x.size(0) == y.size(0), "nlbp", fmt::format("{} targets, one per image", x.size(0)), fmt::format("{}", y.size(0)));
  return g.nlbp(g.probe(x), y, lambda_of(strength, x));
}

py::dict verify(const Network& n, const Tensor& x, const Tensor& y, double tolerance) {
  Verification found;
  {
    const py::gil_scoped_release unlocked;
    require_input(x, n.weight, "verify");
    require_input(y, n.weight, "verify target");
    found = verify_network(n.model.net, x, y, {.tolerance = tolerance});
  }
  py::dict out;
  for (const auto& r : found.residuals) {
    out[r.name.c_str()] = py::dict(py::arg("absolute") = r.absolute, py::arg("relative") = r.relative,
                                   py::arg("tolerance") = r.tolerance, py::arg("passed") = r.passed());
  }
  return out;
}

std::pair<Tensor, std::vector<std::pair<Tensor, Tensor>>> trace(const Network& n, const Tensor& x) {
  require_input(x, n.weight, "Spnn");
  auto [y, levels] = n.net().trace(x);
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (auto& level : levels) pairs.emplace_back(std::move(level.y), std::move(level.z));
  return {std::move(y), std::move(pairs)};
}

// A value written behind autograd's back, as .to() and .data do, must not be taken for the one that caches know.
void touch(const std::vector<Tensor>& tensors) {
  for (const auto& t : tensors) {
    if (!t.is_inference()) t.unsafeGetTensorImpl()->bump_version();
  }
}

// n calls in a row without Python between them: what a call from Python costs beside this is Python's.
Tensor forward_many(const Network& n, const Tensor& x, std::int64_t calls) {
  Tensor y;
  for (std::int64_t i = 0; i < calls; ++i) y = n.net().forward(x);
  return y;
}

void bind_block(py::module_& m) {
  py::class_<Block, std::shared_ptr<Block>>(m, "Block")
      .def("forward", &Block::forward, Unlocked())
      .def("complete", [](const Block& b, const Tensor& x) { return pair_of(b.complete(x)); }, Unlocked())
      .def("invert", [](const Block& b, const Tensor& y, std::vector<Tensor> z) { return b.invert({y, std::move(z)}); }, Unlocked())
      .def("pinv", &Block::pinv, Unlocked())
      .def_property_readonly("in_shape", [](const Block& b) { return tuple_of(b.in_shape()); })
      .def_property_readonly("out_shape", [](const Block& b) { return tuple_of(b.out_shape()); })
      .def_property_readonly("discards", &Block::discards);
}

void bind_about(py::class_<Network, NetworkPtr>& c) {
  c.def_property_readonly("in_shape", [](const Network& n) { return tuple_of(n.net().in_shape()); })
      .def_property_readonly("out_shape", [](const Network& n) { return tuple_of(n.net().out_shape()); })
      .def_property_readonly("config", [](const Network& n) { return to_json(n.net().config()).dump(); })
      .def_property("names", [](const Network& n) { return n.model.outputs.names; },
                    [](Network& n, std::vector<std::string> names) { n.model.outputs.names = std::move(names); })
      .def_property("task", [](const Network& n) { return n.model.outputs.task; },
                    [](Network& n, std::string task) { n.model.outputs.task = std::move(task); })
      .def_property_readonly("statistics",
                             [](const Network& n) {
                               return std::tuple(optional_of(n.model.mean), optional_of(n.model.covariance), optional_of(n.model.exemplars));
                             })
      .def("set_statistics",
           [](Network& n, const Tensor& mean, const Tensor& covariance, const std::optional<Tensor>& exemplars) {
             n.model.mean = mean.to(torch::kFloat64);   // as files are read
             n.model.covariance = covariance.to(torch::kFloat64);
             n.model.exemplars = exemplars ? exemplars->to(torch::kFloat64) : Tensor();
           })
      .def_property("places", [](const Network& n) { return optional_of(n.model.places); },
                    [](Network& n, const std::optional<Tensor>& places) { n.model.places = places ? places->to(torch::kFloat64) : Tensor(); })
      .def_property("metadata", &metadata_of, &set_metadata)
      .def_property_readonly("r_sets", [](const Network& n) { return n.net().config().r_sets; })
      .def_property_readonly("blocks", [](const Network& n) { return n.net().blocks(); });
}

}  // namespace

void bind_network(py::module_& m) {
  bind_block(m);
  py::class_<Network, NetworkPtr> c(m, "Network");
  c.def(py::init(&build), py::arg("config"))
      .def("initialise", [](Network& n, std::uint64_t seed) { initialise_spnn(*n.model.net, Rng(seed).fork(kTrainersStart)); })
      .def("randomise", [](Network& n, std::uint64_t seed) { randomise_spnn(*n.model.net, Rng(seed)); })
      .def("forward", &forward, Unlocked())
      .def("complete", &complete, Unlocked())
      .def("invert", &invert, Unlocked())
      .def("pinv", &pinv, Unlocked())
      .def("nlbp", &nlbp, Unlocked())
      .def("trace", &trace, Unlocked())
      .def("verify", &verify)
      .def("save", [](const Network& n, const std::string& file) { save(n, file); }, Unlocked())
      .def("add_r_set", [](Network& n, const std::string& name, std::uint64_t seed) { n.model.net->add_r_set(name, Rng(seed)); })
      .def("r_parameters", [](const Network& n, const std::string& set) { return n.net().r_parameters(set); })
      .def("g_parameters", [](const Network& n) { return n.net().g_parameters(); })
      .def("tree", [](const Network& n) { return tree_of(n.net()); })
      .def("_forward_many", &forward_many, Unlocked());
  bind_about(c);
  m.def("load_network", [](const std::string& file) { return std::make_shared<Network>(load_spnn(file)); }, Unlocked());
  m.def("preset", [](const std::string& name, std::int64_t outputs) { return to_json(spnn_preset(name, outputs)).dump(); });
  m.def("preset_names", [] {
    const auto names = spnn_preset_names();
    return std::vector<std::string>(names.begin(), names.end());
  });
  m.def("read_config", [](const std::string& file) { return read_config(file).dump(); });
  m.def("touch", &touch);
}

}  // namespace spnn::python
