#include <spnn/core/errors.h>
#include <spnn/core/json_text.h>
#include <spnn/operators/stage.h>

#include <CLI/CLI.hpp>

#include "../fuzz.h"
#include "attribute_request.h"

namespace spnn::fuzz {
namespace {

std::string_view text_of(View input) { return {reinterpret_cast<const char*>(input.data()), input.size()}; }

void read_operator(View input) {
  for (const auto& stage : split_stages(std::string(text_of(input)))) {
    stage_name(stage);
    Stage read(stage, {"sigma", "cut", "factor"});
    read.number("sigma", 1);
    read.integer("factor", 1);
    read.text("cut");
  }
}

void read_attribute(View input) {
  try {
    const auto wish = cli::parse_attribute(std::string(text_of(input)));
    if (wish.name.empty() || (wish.probability && !(*wish.probability > 0 && *wish.probability < 1))) throw std::logic_error("a wish that cannot be");
  } catch (const CLI::ValidationError& error) {
    throw Error(error.what());
  }
}

}  // namespace

void add_text_targets(std::vector<Target>& all) {
  const std::vector<std::string> json = {"{", "}", "[", "]", ":", ",", "\"a\"", "true", "null", "1e308", "-0", "\\u0000", "\\ud800", "//", "/*", "*/", "[[[[[[[[", "{\"a\":"};
  all.push_back({.name = "json", .read = [](View input) { excerpt(parse_config(text_of(input), "fuzz.json")); }, .words = json});
  all.push_back({.name = "toml", .read = [](View input) { parse_config(text_of(input), "fuzz.toml"); },
                 .words = {"[a]", "[[a]]", "a.b.c=1", "=", "\"\"\"", "'''", "{", "}", "1979-05-27T07:32:00Z", "0x", "inf", "nan", "#", "\\U0010ffff", "[[[[[[[[", "a.a.a.a.a.a."}});
  all.push_back({.name = "operator", .read = read_operator, .words = {"sr4", "gauss:sigma=2", "+", ":", "=", ",", "cut=", "factor=", "nan", "1e999", "-"}, .longest = 256});
  all.push_back({.name = "attribute", .read = read_attribute, .words = {"Smiling", "=1", "=0", "=0.5", ":sparse", ":auto", "=nan", "=-0", "=1e-400"}, .longest = 256});
}

}  // namespace spnn::fuzz
