#include <spnn/core/errors.h>
#include <spnn/operators/stage.h>

#include <algorithm>
#include <cctype>
#include <cmath>

namespace spnn {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  }
  return parts;
}

}  // namespace

std::vector<std::string> split_stages(const std::string& spec) {
  auto stages = split(spec, '+');
  if (std::ranges::any_of(stages, &std::string::empty)) {
    throw UsageError(fmt::format("operator: expected stages joined by '+', such as gamma+sr4, got '{}'", spec));
  }
  return stages;
}

std::string stage_name(const std::string& stage) {
  const auto end = std::ranges::find_if(stage, [](unsigned char c) { return c == ':' || std::isdigit(c); });
  return {stage.begin(), end};
}

Stage::Stage(const std::string& text, const std::vector<std::string>& keys) : whole_(text) {
  const auto name = stage_name(text);
  auto rest = text.substr(name.size());
  if (rest.starts_with(':')) rest.erase(0, 1);
  if (rest.empty()) return;
  bool first = true;
  for (const auto& part : split(rest, ',')) {
    const auto equals = part.find('=');
    const auto key = equals == std::string::npos && first && !keys.empty() ? keys.front() : part.substr(0, equals);
    if (std::ranges::find(keys, key) == keys.end()) {
      throw UsageError(fmt::format("operator {}: expected {}, got '{}'", name,
                                   keys.empty() ? "no parameters" : fmt::format("{}", fmt::join(keys, "=…, ") ) + "=…", part));
    }
    values_[key] = equals == std::string::npos ? part : part.substr(equals + 1);
    first = false;
  }
}

double Stage::number(const std::string& key, double otherwise) {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  try {
    std::size_t used = 0;
    const double value = std::stod(found->second, &used);
    if (used == found->second.size() && std::isfinite(value)) return value;
  } catch (const std::logic_error&) {
  }
  throw UsageError(fmt::format("operator {}: expected a number for {}, got '{}'", whole_, key, found->second));
}

std::int64_t Stage::integer(const std::string& key, std::int64_t otherwise) {
  const double value = number(key, static_cast<double>(otherwise));
  if (value != std::floor(value)) throw UsageError(fmt::format("operator {}: expected a whole number for {}, got {}", whole_, key, value));
  return static_cast<std::int64_t>(value);
}

std::string Stage::text(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

}  // namespace spnn
