#include <spnn/core/errors.h>
#include <spnn/image/image.h>
#include <spnn/jobs/guided_work.h>
#include <spnn/jobs/make_images.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>

namespace spnn::engine {
namespace {

Tensor open_photos(const EditRequest& wish, const RestorationModels& models, const Shape& shape, Observer& observer) {
  std::vector<Tensor> photos;
  for (const auto& photo : wish.photos) photos.push_back(open_photo(photo, shape, wish.fit, &observer));
  return to_unit(torch::stack(photos)).repeat_interleave(wish.samples, 0).to(models.device());
}

// "Smiling_no-Male": a name for files and sections.
std::string name_of(const EditRequest& wish) {
  std::string what;
  for (const auto& a : wish.attributes) what += fmt::format("{}{}{}", what.empty() ? "" : "_", a.present ? "" : "no-", a.name);
  return as_file_name(what);
}

std::vector<std::string> stems_of(const EditRequest& wish) {
  if (wish.photos.empty()) return {name_of(wish)};
  std::vector<std::string> stems;
  for (const auto& photo : wish.photos) stems.push_back(as_file_name(name_of(photo)));
  return stems;
}

}  // namespace

EditResult TorchSession::edit(const EditRequest& wish, Observer& observer) const {
  const torch::NoGradGuard no_grad;
  if (wish.attributes.empty()) throw UsageError("edit: expected one attribute or more (--set, --unset), got none");
  Delivery delivery{.files = wish.files, .section = "edit-" + name_of(wish), .title = "Edit: " + name_of(wish), .ask_judge = wish.ask_judge, .kept = kept_batches(wish.sampling)};
  const auto models = loaded_.restoration();
  delivery.loading = delivery.since.seconds();
  delivery.changes = attribute_changes(wish.attributes, models.names(), /*graded=*/!wish.photos.empty());
  name_images(delivery, stems_of(wish), wish.samples);
  const bool noise = wish.photos.empty();
  const auto second = loaded_.upscaler();
  const auto large = noise ? Tensor() : open_photos(wish, models, loaded_.large_prior()->shape(), observer);
  auto work = noise ? edit_from_noise(models.classifier, wish, observer)
                    : edit_of_photos(models.classifier, second ? second->low(large) : large, wish, observer);
  if (second) {
    const auto drawn = work.config.photo ? DrawnPlace{work.task.place, work.config.photo->redraw} : DrawnPlace{};
    work.task.large = enlargement(second, work.g, wish.sampling, work.task.seeds, wish.invent ? Tensor() : large, drawn);
  }
  return make_images(loaded_, models, *work.g, work.config, std::move(work.task), delivery, observer);
}

}  // namespace spnn::engine
