#include <spnn/engine/engine.h>
#include <spnn/core/config.h>
#include <spnn/training/plot.h>

namespace spnn::engine {

void Engine::plot_run(const std::string& run, const std::string& output) { write_text_atomically(output, spnn::plot_run(run)); }

}  // namespace spnn::engine
