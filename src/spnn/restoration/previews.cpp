#include <spnn/image/image.h>
#include <spnn/restoration/previews.h>

namespace spnn {

Correction with_previews(Correction correction, Observer& observer, std::int64_t first, std::vector<std::string> names) {
  if (!observer.wants_previews()) return correction;
  return [correction = std::move(correction), &observer, first, names = std::move(names)](const SamplerStep& step) {
    auto x0 = correction ? correction(step) : step.x0_hat;
    const auto bytes = to_bytes(x0).to(torch::kCPU).permute({0, 2, 3, 1}).contiguous();
    for (std::int64_t i = 0; i < bytes.size(0); ++i) {
      const auto* pixels = bytes[i].data_ptr<std::uint8_t>();
      observer.preview({.image = first + i, .name = names.empty() ? std::to_string(first + i) : names[static_cast<std::size_t>(i)],
                        .step = step.index + 1, .steps = step.total, .t = step.t, .width = bytes.size(2), .height = bytes.size(1),
                        .channels = bytes.size(3), .pixels = {pixels, pixels + bytes[i].numel()}});
    }
    return x0;
  };
}

void SomeImages::preview(const Preview& preview) {
  auto known = preview;
  const auto i = static_cast<std::size_t>(preview.image);
  known.image = numbers_.at(i);
  known.name = names_.empty() ? std::to_string(known.image) : names_.at(i);
  whole_.preview(known);
}

}  // namespace spnn
