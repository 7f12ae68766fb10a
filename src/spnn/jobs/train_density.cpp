#include <spnn/engine/engine.h>
#include <spnn/jobs/flow_images.h>
#include <spnn/jobs/training_session.h>
#include <spnn/checkpoint/load_flow.h>
#include <spnn/flows/dequantise.h>
#include <spnn/image/grid.h>
#include <spnn/training/density.h>

namespace spnn::engine {
namespace {

// The same 32 seeds in every sheet.
void write_sheet(const Flow& flow, const std::filesystem::path& file) {
  const auto x = flow.sample({.rng = Rng(0), .count = 32, .temperature = 0.8});
  write_image(file, grid(quantised_bytes(x, flow.config().bits), {.columns = 8}));
}

}  // namespace

void Engine::train_density(const TrainJob& job, Observer& observer) {
  const auto recipe = recipe_of<DensityRecipe>(job, read_config(job.config));
  const TrainingSession session(job, observer);
  const auto& flow = recipe.flow;
  auto sets = session.load_labelled(flow.input.height + 2 * flow.border, flow.input.channels);
  cut_border(sets.train, flow.border);
  cut_border(sets.val, flow.border);
  DensityObjective objective(recipe, sets.train, sets.val, [&](const Flow& model, std::int64_t step) {
    if (session.leads()) write_sheet(model, session.file(fmt::format("samples-{:06}.png", step)));
  });
  if (!job.from.empty()) session.start_from(objective, *load_flow(job.from));
  session.train(objective, recipe.train, {{"trainer", "density"}, {"config", recipe}});
}

}  // namespace spnn::engine
