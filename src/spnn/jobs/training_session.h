#pragma once

// What every supervised trainer does around its objective. Internal to jobs/.

#include <spnn/engine/training.h>
#include <spnn/core/observer.h>
#include <spnn/data/dataset.h>
#include <spnn/training/trainer.h>

#include <memory>

namespace spnn::engine {

// The job's configuration with what the job says over it.
template <class Recipe>
Recipe recipe_of(const TrainJob& job, const Json& config) {
  auto recipe = config.get<Recipe>();
  if (job.steps > 0) recipe.train.steps = job.steps;
  return recipe;
}

struct LabelledSets {
  Dataset train, val;
};

// One process of a training: alone, or one of several when the variables RANK and WORLD_SIZE say so, as torchrun, SLURM
// wrappers and Kubernetes set them. They meet in the run directory; MASTER_ADDR says whether on one machine. Only rank 0
// reports and writes, and holds the run's lock for as long as the session lasts.
class TrainingSession {
 public:
  TrainingSession(const TrainJob& job, Observer& observer);

  bool leads() const { return communicator_->share().rank == 0; }
  Observer& observer() const { return leads() ? observer_ : silent_; }
  std::filesystem::path file(const std::string& name) const { return std::filesystem::path(job_.run) / name; }

  // Training images, and the validation images or, where a set has none (Fashion-MNIST), the test images. Says what it
  // found.
  LabelledSets load_labelled(std::int64_t size, std::int64_t channels) const;

  // The weights of another model instead of random ones: of the same architecture, or one whose nets r are narrower.
  void start_from(Objective& objective, const torch::nn::Module& model) const;

  // Runs or resumes the job with this objective. `run` is what must not change between the two.
  void train(Objective& objective, const TrainConfig& config, Json run) const;

  // Mean and covariance of the best model's outputs over the training images go into its file, if they are not there.
  void add_statistics(const Dataset& train) const;

 private:
  // A process that does not lead is silent, but it can be interrupted.
  class Silent final : public Observer {
   public:
    explicit Silent(const Observer& observer) : observer_(observer) {}
    bool cancelled() const override { return observer_.cancelled(); }

   private:
    const Observer& observer_;
  };

  const TrainJob& job_;
  Observer& observer_;
  mutable Silent silent_;
  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Communicator> communicator_;
};

}  // namespace spnn::engine
