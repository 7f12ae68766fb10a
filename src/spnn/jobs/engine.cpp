#include <spnn/core/config.h>
#include <spnn/core/errors.h>
#include <spnn/core/text.h>
#include <spnn/image/image.h>
#include <spnn/engine/engine.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

#include <ATen/Parallel.h>

#include <interface_id.h>

#include <ostream>

namespace spnn::engine {

void Engine::set_threads(int threads) { at::set_num_threads(threads); }

int Engine::report(const std::exception& error, std::ostream& out) const {
  out << printable(what_without_backtrace(error)) << "\n";   // names of files and users come as they are
  if (dynamic_cast<const UsageError*>(&error)) return 2;
  if (dynamic_cast<const Interrupted*>(&error)) return 130;
  return 1;
}

std::unique_ptr<Session> Engine::open(const SessionConfig& config) { return open_session(config); }

Image Engine::decode(const std::vector<std::uint8_t>& file, const std::string& name) const { return to_image(decode_image(file, name)); }

std::vector<std::uint8_t> Engine::encode(const Image& image, const std::string& extension, int jpeg_quality) const {
  return encode_image(to_tensor(image, "encode"), "." + extension, jpeg_quality);
}

Image Engine::fit(const Photo& photo, std::int64_t width, std::int64_t height) const {
  return to_image(open_photo(photo, {3, height, width}, /*fit=*/true));
}

std::vector<std::string> Engine::image_files(const std::vector<std::string>& places) const { return engine::image_files(places); }

void Engine::write_file(const std::string& file, const std::string& text) const { write_text_atomically(file, text); }

}  // namespace spnn::engine

// The launcher compares this hash of the façade's headers with its own before it calls the engine.
extern "C" const char* spnn_interface_id() { return SPNN_INTERFACE_ID; }

extern "C" spnn::engine::Engine* spnn_engine() {
  static spnn::engine::Engine engine;
  return &engine;
}
