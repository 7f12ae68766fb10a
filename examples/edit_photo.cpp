// Edit a photo in memory, with progress and previews: what a front end does.
#include <spnn/spnn.h>

#include <cstdio>

int main() {
  using namespace spnn::engine;
  Engine& engine = *spnn_engine();
  const auto session = engine.open({.models = {.family = "fashion"}});   // "celebahq64" for faces

  Image photo{.width = 32, .height = 32, .channels = 1, .pixels = std::vector<std::uint8_t>(32 * 32, 0)};
  for (std::size_t i = 0; i < photo.pixels.size(); ++i) photo.pixels[i] = i / 32 > 20 && i / 32 < 28 ? 200 : 0;   // a stripe: a shoe, nearly

  Watch watch;                                            // cancel() may be called from any thread
  watch.on_progress = [](std::int64_t done, std::int64_t total, const std::string&) { std::printf("\r%ld/%ld", long(done), long(total)); };
  std::size_t previews = 0;
  watch.on_preview = [&](const spnn::Preview&) { ++previews; };

  EditRequest wish{.photos = {{.image = photo, .name = "stripe"}}, .attributes = {{"Sneaker"}}};
  wish.sampling.steps = 10;
  const auto made = session->edit(wish, watch).images.at(0);
  const auto png = engine.encode(made.image, "png");
  std::printf("\n%s: %zu bytes of PNG, %zu previews, aimed at %.1f and got %.1f\n", made.name.c_str(), png.size(), previews, made.target[7], made.outputs[7]);
  return png.size() > 0 && previews > 0 ? 0 : 1;
}
