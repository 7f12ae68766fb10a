#include <spnn/core/config.h>
#include <spnn/core/errors.h>

#define TOML_HEADER_ONLY 0   // Debian ships the compiled library
#define TOML_SHARED_LIB 1
#include <toml++/toml.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace spnn {
namespace {

Json parse_toml(const std::filesystem::path& file, const std::string& text) {
  try {
    std::ostringstream out;
    out << toml::json_formatter{toml::parse(text)};
    return Json::parse(out.str());
  } catch (const toml::parse_error& error) {
    fail(fmt::format("{}:{}", file.string(), error.source().begin.line), "TOML", std::string(error.description()));
  }
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  require(in.good() && !std::filesystem::is_directory(file), file.string(), "a readable file",
          std::filesystem::exists(file) ? "one that cannot be read" : "nothing there");
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

Json read_config(const std::filesystem::path& file) {
  const auto text = read_text(file);
  if (file.extension() == ".toml") return parse_toml(file, text);
  try {
    return Json::parse(text, nullptr, true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    fail(file.string(), "JSON (or TOML in a file ending in .toml)", error.what());
  }
}

void write_text_atomically(const std::filesystem::path& file, std::string_view text) {
  const auto beside = std::filesystem::path(fmt::format("{}.{}.part", file.string(), getpid()));
  {
    std::ofstream out(beside, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.flush();
    require(out.good(), file.string(), "a writable place", "a write that failed");
  }
  std::filesystem::rename(beside, file);
}

}  // namespace spnn
