#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/jobs/network_input.h>
#include <spnn/jobs/pictures.h>
#include <spnn/layers/init.h>

#include <algorithm>
#include <charconv>
#include <sstream>

namespace spnn::engine {
namespace {

std::size_t output_number(const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size() || number >= names.size()) {
    throw UsageError(fmt::format("--set: expected the name of an output or a number below {}, got '{}'", names.size(), name));
  }
  return number;
}

std::vector<double> read_values(const std::string& file) {
  auto text = read_text(file);
  if (const auto first = text.find_first_not_of(" \t\r\n"); first != std::string::npos && text[first] == '[') {
    const auto json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    const bool numbers = json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& v) { return v.is_number(); });
    require(numbers, file, "a JSON array of numbers", "something else");
    return json.get<std::vector<double>>();
  }
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<double> values;
  for (double value; stream >> value;) values.push_back(value);
  require(stream.eof(), file, "numbers separated by blanks or commas", "other characters");
  return values;
}

Tensor in_interface(const Tensor& values, const Shape& shape) {
  return shape.height * shape.width == 1 ? values.reshape({1, -1}) : values.reshape(shape.batched(1));
}

}  // namespace

std::string describe_network(const Spnn& net) {
  const auto type = net.options().dtype() == torch::kFloat64 ? "double" : "float";
  return fmt::format("{}: {} → {}, {} levels, {:.2f} M parameters, {}", net.config().name, to_string(net.in_shape()),
                     to_string(net.out_shape()), net.level_count(),
                     static_cast<double>(parameter_count(net)) / 1e6, type);
}

Tensor open_input(const Photo& photo, const Spnn& net) {
  return to_unit(open_photo(photo, net.in_shape(), /*fit=*/true)).unsqueeze(0).to(net.options());
}

std::vector<std::string> output_names(const SpnnModel& model) {
  if (!model.outputs.names.empty()) return model.outputs.names;
  std::vector<std::string> numbers;
  for (std::int64_t i = 0; i < model.net->out_shape().size(); ++i) numbers.push_back(std::to_string(i));
  return numbers;
}

Tensor open_target(const OutputsRequest& wanted, const SpnnModel& model, const Tensor& base) {
  const auto& net = *model.net;
  const auto& shape = net.out_shape();
  Tensor y = base.defined() ? base.clone() : in_interface(torch::zeros({shape.size()}, net.options()), shape);
  if (wanted.image) y = net.forward(open_input(*wanted.image, net));
  if (!wanted.values.empty() || !wanted.values_file.empty()) {
    const auto values = wanted.values_file.empty() ? wanted.values : read_values(wanted.values_file);
    require(std::ssize(values) == shape.size(), wanted.values_file.empty() ? "outputs" : wanted.values_file,
            fmt::format("{} values", shape.size()), fmt::format("{}", values.size()));
    y = in_interface(torch::tensor(values, torch::kFloat64).to(net.options()), shape);
  }
  const auto names = output_names(model);
  auto flat = y.view({-1});
  for (const auto& [name, value] : wanted.set) flat[static_cast<std::int64_t>(output_number(name, names))] = value;
  return y;
}

}  // namespace spnn::engine
