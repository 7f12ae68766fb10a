#pragma once

#include <span>
#include <string_view>

namespace spnn::studio {

// The files of apps/studio/page, which the build puts into the program.
struct PageFile {
  std::string_view path;  // "/main.js"
  std::string_view bytes;
};
std::span<const PageFile> page_files();

}  // namespace spnn::studio
