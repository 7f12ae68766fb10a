#include <spnn/checkpoint/guidance_windows.h>
#include <spnn/core/json_fields.h>
#include <spnn/core/json_text.h>

namespace spnn {

Json to_json(const GuidanceWindows& windows) {
  Json json = Json::object();
  if (windows.reconstruct) json["reconstruct_window"] = *windows.reconstruct;
  if (windows.edit) json["edit_window"] = *windows.edit;
  return json;
}

GuidanceWindows guidance_windows_from(const Json& json, const std::string& where) {
  JsonFields fields(json, where);
  const auto window = [&](const std::string& key) -> std::optional<std::int64_t> {
    std::int64_t t = 0;
    fields.optional(key, t);
    if (!fields.has(key)) return {};
    require(1 <= t && t <= 1000, fields.path(key), "a time from 1 to 1000", std::to_string(t));
    return t;
  };
  const GuidanceWindows windows{.reconstruct = window("reconstruct_window"), .edit = window("edit_window")};
  fields.no_others();
  return windows;
}

GuidanceWindows guidance_windows_in(const std::map<std::string, std::string>& metadata, const std::string& where) {
  const auto text = metadata.find("guidance");
  if (text == metadata.end()) return {};
  return guidance_windows_from(parse_json(text->second, where + ": guidance"), where + ": guidance");
}

}  // namespace spnn
