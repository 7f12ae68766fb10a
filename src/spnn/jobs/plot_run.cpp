#include <spnn/jobs/engine_impl.h>
#include <spnn/core/config.h>
#include <spnn/training/plot.h>

namespace spnn::engine {

void TorchEngine::plot_run(const std::string& run, const std::string& output) { write_text_atomically(output, spnn::plot_run(run)); }

}  // namespace spnn::engine
