#include <spnn/engine/default_models.h>
#include <spnn/core/errors.h>

#include <dlfcn.h>

#include <filesystem>

namespace spnn::engine {
namespace {

std::filesystem::path library_folder() {
  Dl_info info{};
  const bool found = dladdr(reinterpret_cast<const void*>(&model_file), &info) != 0 && info.dli_fname != nullptr;
  require(found, "libspnn", "to find its own place", "nothing");
  return std::filesystem::weakly_canonical(info.dli_fname).parent_path();
}

}  // namespace

std::string model_file(const std::string& given, const std::string& family, const std::string& role) {
  if (!given.empty()) {
    require(std::filesystem::exists(given), given, "a model file", "nothing there");
    return given;
  }
  const auto here = library_folder();
  const auto name = fmt::format("{}-{}.safetensors", family, role);
  std::string looked;
  for (const auto& folder : {here / "../../models", here / "../share/spnn/models", here / "../../share/spnn/models"}) {
    const auto file = (folder / name).lexically_normal();
    if (std::filesystem::exists(file)) return file.string();
    looked += (looked.empty() ? "" : ", ") + file.string();
  }
  fail(name, "a shipped model", "none at " + looked, fmt::format("name a file with --{}", role));
}

}  // namespace spnn::engine
