#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spnn {

// One stage of an operator's text, "gauss:sigma=2,cut=0.01": a name and its parameters. The first parameter may stand
// without its key, and a number may follow the name directly: "sr4" is "sr:factor=4".
class Stage {
 public:
  Stage(const std::string& text, const std::vector<std::string>& keys);

  double number(const std::string& key, double otherwise);
  std::int64_t integer(const std::string& key, std::int64_t otherwise);
  std::string text(const std::string& key, const std::string& otherwise = {}) const;
  const std::string& whole() const { return whole_; }

 private:
  std::string whole_;
  std::map<std::string, std::string> values_;
};

// "gamma+sr4" → {"gamma", "sr4"}, in the order in which they act.
std::vector<std::string> split_stages(const std::string& spec);

// The name in "sr4" or "gauss:2": letters up to the first digit or colon.
std::string stage_name(const std::string& stage);

}  // namespace spnn
