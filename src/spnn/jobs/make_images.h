#pragma once

// The common part of `reconstruct` and `edit`: sampled, guided, finalized, measured and written. Internal to jobs/.

#include <spnn/core/stopwatch.h>
#include <spnn/jobs/restoration_session.h>

namespace spnn::engine {

// Whom the images are for, beside what is wanted of them (RestorationTask).
struct Delivery {
  std::vector<std::string> names = {}, sources = {};   // NAME.png of each image, and what it is made from
  std::vector<AttributeChange> changes = {};           // outputs that were asked for; none: all
  FileOutput files = {};
  std::string section = {}, title = {};                // of the report
  bool ask_judge = false;
  std::shared_ptr<KeptBatches> kept = {};
  Stopwatch since = {};                                // the request
  double loading = 0;
};

// Every batch is written as soon as it is finished. An interrupt throws Interrupted, naming the images that are missing.
MadeImages make_images(const LoadedModels& loaded, const RestorationModels& models, const BackProjector& g, const RestorerConfig& config,
                       RestorationTask task, const Delivery& delivery, Observer& observer);

// NAME.png for every image, `samples` of each stem; sources are the stems.
void name_images(Delivery& delivery, const std::vector<std::string>& stems, std::int64_t samples);

std::vector<double> numbers_in(const Tensor& y);   // of one row, as doubles

}  // namespace spnn::engine
