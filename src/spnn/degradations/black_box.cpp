#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/degradations/black_box.h>
#include <spnn/degradations/boxes.h>
#include <spnn/operators/stage.h>

#include <fmt/ranges.h>

#include <algorithm>

namespace spnn {
namespace {

using Map = std::function<Tensor(const Tensor&)>;

template <class T>
void require_in(const Stage& s, const char* key, T value, T low, T high) {
  if (value >= low && value <= high) return;
  throw UsageError(fmt::format("operator {}: expected {} from {} to {}, got {}", s.whole(), key, low, high, value));
}

std::int64_t whole(Stage& s, const char* key, std::int64_t otherwise, std::int64_t low, std::int64_t high) {
  const auto value = s.integer(key, otherwise);
  require_in(s, key, value, low, high);
  return value;
}

double number(Stage& s, const char* key, double otherwise, double low, double high) {
  const auto value = s.number(key, otherwise);
  require_in(s, key, value, low, high);
  return value;
}

Map jpeg(Stage& s, const Shape&) {
  return [quality = whole(s, "quality", 20, 1, 100)](const Tensor& x) { return boxes::jpeg(x, static_cast<int>(quality)); };
}

Map quantize(Stage& s, const Shape&) {
  return [bits = whole(s, "bits", 4, 1, 8)](const Tensor& x) { return boxes::quantize(x, bits); };
}

Map clip(Stage& s, const Shape&) {
  const auto low = number(s, "low", 0.2, 0, 1), high = number(s, "high", 0.8, 0, 1);
  if (low >= high) throw UsageError(fmt::format("operator {}: expected low below high, got {} and {}", s.whole(), low, high));
  return [=](const Tensor& x) { return boxes::clip(x, low, high); };
}

Map isp(Stage& s, const Shape& picture) {
  if (picture.channels != 3 || picture.height % 2 != 0 || picture.width % 2 != 0) {
    throw UsageError(fmt::format("operator {}: expected a picture of 3 colours and even sides, got {}", s.whole(), to_string(picture)));
  }
  const boxes::Isp otherwise;
  const boxes::Isp camera{.red = number(s, "red", otherwise.red, 0.25, 4), .blue = number(s, "blue", otherwise.blue, 0.25, 4),
                          .gamma = number(s, "gamma", otherwise.gamma, 0.25, 4), .bits = whole(s, "bits", otherwise.bits, 1, 8)};
  return [camera](const Tensor& x) { return boxes::isp(x, camera); };
}

Map lens(Stage& s, const Shape&) {
  const boxes::Lens otherwise;
  const boxes::Lens glass{.k = number(s, "k", otherwise.k, -0.3, 0.5), .vignette = number(s, "vignette", otherwise.vignette, 0, 0.9),
                          .chroma = number(s, "chroma", otherwise.chroma, -0.1, 0.1), .blur = number(s, "blur", otherwise.blur, 0, 4)};
  return [glass](const Tensor& x) { return boxes::lens(x, glass); };
}

Map shake(Stage& s, const Shape& picture) {
  const boxes::Shake otherwise;
  const auto longest = static_cast<double>(std::min(picture.height, picture.width));
  const boxes::Shake hand{.length = number(s, "length", otherwise.length, 1, longest), .angle = number(s, "angle", otherwise.angle, -360, 360),
                          .gain = number(s, "gain", otherwise.gain, 0.25, 4), .gamma = number(s, "gamma", otherwise.gamma, 0.25, 4)};
  return [hand](const Tensor& x) { return boxes::shake(x, hand); };
}

struct BlackBoxRow {
  BlackBoxInfo info;
  std::vector<std::string> keys;
  Map (*make)(Stage&, const Shape&);
};

const std::vector<BlackBoxRow>& entries() {
  static const std::vector<BlackBoxRow> all = {
      {{"jpeg", "quality=20", "JPEG compression, 4:4:4"}, {"quality"}, jpeg},
      {{"quantize", "bits=4", "2^bits greys a channel"}, {"bits"}, quantize},
      {{"clip", "low=0.2, high=0.8", "shadows and lights lost, pixels in [0, 1]"}, {"low", "high"}, clip},
      {{"isp", "red=1.2, blue=1.4, gamma=2.2, bits=6", "a camera without noise: Bayer mosaic, white balance, demosaicking, tone curve, rounding"},
       {"red", "blue", "gamma", "bits"}, isp},
      {{"lens", "k=0.15, vignette=0, chroma=0, blur=0",
        "a lens that bends lines (barrel for k > 0, pincushion for k < 0), with less light, blur and colours apart towards the corners"},
       {"k", "vignette", "chroma", "blur"}, lens},
      {{"shake", "length=9, angle=0, gain=1.3, gamma=2.2", "a moving camera: light blurred along a line, brightened, cut off at white; a non-linear blur"},
       {"length", "angle", "gain", "gamma"}, shake},
  };
  return all;
}

const BlackBoxRow& entry_of(const std::string& stage) {
  const auto name = stage_name(stage);
  const auto found = std::ranges::find_if(entries(), [&](const BlackBoxRow& e) { return e.info.name == name; });
  if (found != entries().end()) return *found;
  std::vector<std::string> names;
  for (const auto& e : entries()) names.push_back(e.info.name);
  throw UsageError(fmt::format("operator: expected black boxes, {}, got '{}' (did you mean {}?)", fmt::join(names, ", "), stage,
                               fmt::join(nearest_names(name, names, 1), ", ")));
}

}  // namespace

const std::vector<BlackBoxInfo>& black_box_catalogue() {
  static const std::vector<BlackBoxInfo> infos = [] {
    std::vector<BlackBoxInfo> out;
    for (const auto& e : entries()) out.push_back(e.info);
    return out;
  }();
  return infos;
}

BlackBox make_black_box(const std::string& spec, const Shape& picture) {
  std::vector<Map> stages;
  for (const auto& text : split_stages(spec)) {
    const auto& entry = entry_of(text);
    Stage stage(text, entry.keys);
    stages.push_back(entry.make(stage, picture));
  }
  return {.spec = spec, .D = [stages, picture](const Tensor& x) {
            require_shape(x, picture, "black box");
            const torch::NoGradGuard no_gradient;
            auto out = x;
            for (const auto& stage : stages) out = stage(out);
            return out;
          }};
}

}  // namespace spnn
