#include <spnn/core/errors.h>
#include <spnn/image/codec.h>

#include <turbojpeg.h>

#include <memory>

namespace spnn::codec {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Handle = std::unique_ptr<void, Destroy>;

// turbojpeg reports a truncated file as a mere warning. Only stray bytes between markers, which some cameras
// write, are harmless.
void check(int status, tjhandle handle, std::string_view name) {
  if (status == 0) return;
  const std::string text = tjGetErrorStr2(handle);
  const bool harmless =
      tjGetErrorCode(handle) == TJERR_WARNING && text.find("extraneous bytes") != std::string::npos;
  require(harmless, name, "a readable JPEG", text);
}

// Every scan of a progressive JPEG goes over the whole image, and one that says nothing takes ten bytes. Encoders write about
// ten of them. Counted by their markers: in compressed data 0xFF is always followed by 0 or a restart.
constexpr int kMostScans = 64;

void require_few_scans(EncodedImage file, std::string_view name) {
  int scans = 0;
  for (std::size_t at = 0; at + 1 < file.size(); ++at) scans += file[at] == 0xFF && file[at + 1] == 0xDA ? 1 : 0;
  require(scans <= kMostScans, name, fmt::format("a JPEG of at most {} scans", kMostScans), std::to_string(scans));
}

}  // namespace

Tensor decode_jpeg(EncodedImage file, std::string_view name) {
  const Handle handle(tjInitDecompress());
  int width = 0, height = 0, subsampling = 0, colours = 0;
  check(tjDecompressHeader3(handle.get(), file.data(), file.size(), &width, &height, &subsampling, &colours),
        handle.get(), name);
  require(colours != TJCS_CMYK && colours != TJCS_YCCK, name, "a grey or RGB JPEG", "a CMYK one");
  require_sane_size(height, width, file.size(), name);
  require_few_scans(file, name);
  const bool grey = colours == TJCS_GRAY;
  const Tensor pixels = torch::empty({height, width, grey ? 1 : 3}, torch::kUInt8);
  check(tjDecompress2(handle.get(), file.data(), file.size(), pixels.data_ptr<std::uint8_t>(), width, 0,
                      height, grey ? TJPF_GRAY : TJPF_RGB, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS),
        handle.get(), name);
  return turn_upright(planes(pixels), exif_orientation(file));
}

std::vector<std::uint8_t> encode_jpeg(const Tensor& image, int quality) {
  const Handle handle(tjInitCompress());
  const Tensor pixels = interleaved(image);
  const bool grey = image.size(0) == 1;
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const int status =
      tjCompress2(handle.get(), pixels.data_ptr<std::uint8_t>(), static_cast<int>(image.size(2)), 0,
                  static_cast<int>(image.size(1)), grey ? TJPF_GRAY : TJPF_RGB, &buffer, &size,
                  grey ? TJSAMP_GRAY : TJSAMP_444, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, decltype(&tjFree)> owner(buffer, tjFree);
  require(status == 0, "encode_jpeg", "an image that can be written", tjGetErrorStr2(handle.get()));
  return {buffer, buffer + size};
}

}  // namespace spnn::codec
