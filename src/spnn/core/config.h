#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>

namespace spnn {

using Json = nlohmann::json;

// A configuration file as JSON: .toml or .json by its ending. Errors name the file and, where known, the line.
Json read_config(const std::filesystem::path& file);

// The text of a file, whole. Errors name it.
std::string read_text(const std::filesystem::path& file);

// Writes beside `file` and renames: a reader sees the old or the new content, never half of it.
void write_text_atomically(const std::filesystem::path& file, std::string_view text);

}  // namespace spnn
