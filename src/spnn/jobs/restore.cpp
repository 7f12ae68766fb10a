#include <spnn/core/errors.h>
#include <spnn/core/stopwatch.h>
#include <spnn/evaluation/image_quality.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/evaluation/report.h>
#include <spnn/jobs/field_session.h>
#include <spnn/jobs/pictures.h>
#include <spnn/jobs/session.h>
#include <spnn/jobs/restoration_session.h>
#include <spnn/operators/masks.h>

namespace spnn::engine {
namespace {

// One mask for all photos, or one for each: pictures, or files of a folder with the photos' names.
class Masks {
 public:
  Masks(const RestoreRequest& wish, const Shape& shape) : wish_(wish), shape_(shape) {
    const auto given = std::ssize(wish.masks), photos = std::ssize(wish.photos);
    if (given > 1 && given != photos) throw UsageError(fmt::format("masks: expected one, or one for each of {} photos, got {}", photos, given));
    if (given == 1) common_ = mask_of(wish.masks.front());
  }

  bool per_image() const { return !wish_.masks_folder.empty() || wish_.masks.size() > 1; }
  // [B, 1, H, W] of these images, or [1, 1, H, W]; undefined without masks.
  Tensor of(std::int64_t first, std::int64_t last) const {
    if (common_.defined()) return common_.unsqueeze(0).unsqueeze(0);
    if (!per_image()) return {};
    std::vector<Tensor> masks;
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      masks.push_back(mask_of(wish_.masks.empty() ? in_folder(name_of(wish_.photos[i])) : wish_.masks[i]));
    }
    return torch::stack(masks).unsqueeze(1);
  }

 private:
  Tensor mask_of(const Photo& photo) const {
    return mask_from(open_photo(photo), photo.file.empty() ? name_of(photo) : photo.file, shape_.height, shape_.width);
  }
  Photo in_folder(const std::string& stem) const {
    for (const auto* ending : {".png", ".webp", ".jpg", ".jpeg"}) {
      const auto file = std::filesystem::path(wish_.masks_folder) / (stem + ending);
      if (std::filesystem::exists(file)) return photo_file(file.string());
    }
    fail(wish_.masks_folder, fmt::format("a mask for every image, such as {}.png", stem), "none of this name");
  }

  const RestoreRequest& wish_;
  Shape shape_;
  Tensor common_;
};

// An operator that has this size for its measurement, for the hint. "" where none of the obvious ones has.
std::string fitting_operator(const Shape& in, std::int64_t height, std::int64_t width) {
  if (height <= 0 || width <= 0 || in.height % height != 0 || in.width % width != 0 || in.height / height != in.width / width) return {};
  const auto factor = in.height / height;
  return factor == 1 ? "gauss, box or grey" : fmt::format("sr{} or bicubic{}", factor, factor);
}

// A photo that is already degraded, as y. Only operators whose y is a picture can read one.
Tensor read_measurement(const Degradation& g, const Photo& photo) {
  const auto shape = g.fitted ? g.in_shape() : g.g->out_shape();   // what a fitted g has of D(x) is taken from the picture D(x)
  const bool readable = g.fitted || (g.intensities && !g.network() && (shape.channels == 1 || shape.channels == 3));
  if (!readable) {
    throw UsageError(fmt::format("operator {}: expected one whose measurement is a picture (sr, bicubic, box, random, mask, gauss, uniform, "
                                 "aniso, kernel, grey, denoise) for degraded files, got one that measures {} numbers", g.name, shape.size()));
  }
  auto image = open_photo(photo);
  image = shape.channels == 1 ? as_grey(image) : as_rgb(image);
  if (image.size(1) != shape.height || image.size(2) != shape.width) {
    const auto would = fitting_operator(g.in_shape(), image.size(1), image.size(2));
    throw UsageError(fmt::format("{}: expected {} × {} pixels, as '{}' leaves of {} × {}, got {} × {}{}", photo.file.empty() ? name_of(photo) : photo.file, shape.width, shape.height, g.name,
                                 g.in_shape().width, g.in_shape().height, image.size(2), image.size(1),
                                 would.empty() ? "" : fmt::format(" ({} would fit)", would)));
  }
  return to_unit(image);
}

std::string chosen_method(const RestoreRequest& wish, const Degradation& g, const MeasurementNoise& noise, Observer& observer) {
  const bool noisy = noise.kind != MeasurementNoise::Kind::none;
  const auto name = wish.method == "auto" ? (noisy && g.linear ? "ddrm" : "nlbp") : wish.method;
  const auto& info = method_info(name);
  require_applies(info, g);
  if (noisy && !info.knows_noise) {
    const auto know = method_names([&](const MethodInfo& m) { return m.knows_noise && (g.linear || !m.linear_only); });
    observer.message(fmt::format("{} takes the measurement as exact and restores its noise too; {} know of noise", name, fmt::join(know, ", ")));
  }
  return name;
}

class Restoration {
 public:
  Restoration(const LoadedModels& loaded, const RestoreRequest& wish, Observer& observer)
      : loaded_(loaded), wish_(wish), observer_(observer), prior_(loaded.large_prior()), loading_(since_.seconds()),
        noise_(noise_from(wish.noise)), masks_(wish, prior_->shape()), config_(method_config(wish.options, wish.sampling, loaded.device())) {
    std::vector<std::string> stems;
    for (const auto& photo : wish.photos) stems.push_back(as_file_name(name_of(photo)));
    names_ = output_names(stems, 1);
    if (!masks_.per_image()) common_ = degradation(0, 1);
  }

  RestoreResult run() {
    const auto count = std::ssize(names_);
    const auto batch = std::max<std::int64_t>(1, wish_.sampling.batch);
    result_.method = chosen_method(wish_, common_ ? *common_ : degradation(0, 1), noise_, observer_);
    if (saves()) {
      require_writable_folder(wish_.files.folder);
      if (!wish_.degraded) require_writable_folder(folder() / "measured");
    }
    result_.timings = {.loading = loading_, .until_first_step = since_.seconds()};
    PartOfWhole progress(observer_, (count + batch - 1) / batch);
    const auto make = [&](std::int64_t first, std::int64_t last) {
      progress.part = first / batch;
      return tensors_of(solved(problem_of(first, last), progress));
    };
    const auto last_of = [&](std::int64_t first) { return std::min(first + batch, count); };
    try {
      in_batches(count, {.size = batch, .kept = kept_batches(wish_.sampling)}, observer_, make,
                 [&](std::int64_t first, const KeptBatches::Batch& made) { take(problem_of(first, last_of(first)), solved_of(made)); });
    } catch (const Interrupted&) {
      throw Interrupted(fmt::format("interrupted: {} of {} images are in {}", result_.images.size(), count, saves() ? wish_.files.folder : "memory"));
    }
    finish();
    return result_;
  }

 private:
  bool saves() const { return !wish_.files.folder.empty(); }
  std::filesystem::path folder() const { return wish_.files.folder; }

  Degradation degradation(std::int64_t first, std::int64_t last) const {
    return open_degradation(loaded_, {.spec = wish_.degradation, .masks = masks_.of(first, last), .metric = metric_from(wish_.options.metric),
                                      .pseudo_inverse = pseudo_inverse_from(wish_.options.pseudo_inverse)});
  }

  // What a batch is made from: its operator, the files as they were read, and the measurement.
  struct Problem {
    std::int64_t first = -1;
    std::optional<Degradation> g = {};
    Tensor read = {}, y = {};
    std::vector<std::uint64_t> seeds = {};
  };

  // The last one is kept: a batch is made and taken one after the other, unless it was kept by an earlier run.
  const Problem& problem_of(std::int64_t first, std::int64_t last) {
    if (problem_.first == first) return problem_;
    const auto g = common_ ? *common_ : degradation(first, last);
    const auto seeds = seeds_from(wish_.seed + static_cast<std::uint64_t>(first), last - first);
    std::vector<Tensor> images;
    for (auto i = first; i < last; ++i) {
      const auto& photo = wish_.photos[static_cast<std::size_t>(i)];
      images.push_back(wish_.degraded ? read_measurement(g, photo) : open_photo(photo, prior_->shape(), wish_.fit));
    }
    const auto read = torch::stack(images), there = read.to(loaded_.device());
    const auto y = !wish_.degraded ? g.measure(to_unit(there), noise_, seeds) : g.fitted ? g.fitted->T.forward(there) : g.in_range(there);
    problem_ = {.first = first, .g = g, .read = read, .y = y, .seeds = seeds};
    return problem_;
  }

  Solved solved(const Problem& p, Observer& progress) const {
    return solve(result_.method, {*prior_, *p.g, p.y, sigmas_of(noise_, p.y), p.seeds}, config_, progress, p.first);
  }

  void take(const Problem& problem, const Solved& solved) {
    const auto& [first, of, read, y, seeds] = problem;
    const auto& g = *of;
    result_.evaluations = solved.evaluations;
    seconds_ += solved.seconds;
    const auto clean = wish_.degraded ? Tensor() : read;
    const auto pictures = to_bytes(wish_.degraded && g.fitted ? read : measured_picture(g, y, clean)).to(torch::kCPU);
    const auto bytes = solved.bytes.to(torch::kCPU);
    Tensor truth;   // D of a degraded file is the file
    if (g.has_truth()) truth = g.true_inconsistency(to_unit(bytes), wish_.degraded ? read : g.fitted->D(to_unit(read)));
    const auto quality = wish_.degraded ? std::pair<Tensor, Tensor>() : std::pair(psnr(bytes, read), ssim(bytes, read));
    for (std::int64_t i = 0; i < bytes.size(0); ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const auto& photo = wish_.photos[at];
      RestoredImage image{.image = to_image(bytes[i]), .measured = to_image(pictures[i]), .name = names_[at],
                          .source = photo.file.empty() ? name_of(photo) : photo.file, .seed = wish_.seed + at,
                          .inconsistency_sampled = solved.sampled[i].item<double>(), .inconsistency = solved.saved[i].item<double>()};
      if (saves()) {
        image.file = (folder() / names_[at]).string();
        write_image(image.file, bytes[i]);
        if (!wish_.degraded) write_image(folder() / "measured" / names_[at], pictures[i]);
      }
      if (!wish_.degraded) {
        image.psnr = quality.first[i].item<double>();
        image.ssim = quality.second[i].item<double>();
      }
      if (truth.defined()) image.truth = truth[i].item<double>();
      result_.images.push_back(std::move(image));
    }
    if (!shown_.empty() || wish_.files.report.empty()) return;
    shown_.push_back(wish_.degraded && g.fitted ? to_bytes(read) : figure_of_measurement(g, y, clean).to(torch::kCPU));
    shown_.push_back(bytes);
    if (!wish_.degraded) shown_.push_back(read);
  }

  void finish() {
    result_.timings.per_image = seconds_ / static_cast<double>(result_.images.size());
    if (saves() || !wish_.files.report.empty()) write_table();
    result_.timings.total = since_.seconds();
  }

  void write_table() {
    Table table{.title = fmt::format("{} by {}, noise {} (in [0, 1] pixel units)", wish_.degradation, result_.method, to_string(noise_)),
                .columns = {"file", "seed", "PSNR dB", "SSIM", "rms g(x)-y", "rms D(x)-D"}};
    for (const auto& image : result_.images) {
      table.rows.push_back({image.name, std::to_string(image.seed), image.psnr ? fmt::format("{:.2f}", *image.psnr) : "",
                            image.ssim ? fmt::format("{:.4f}", *image.ssim) : "", fmt::format("{:.2e}", image.inconsistency),
                            image.truth ? fmt::format("{:.2e}", *image.truth) : ""});
    }
    if (saves()) write_text_atomically(folder() / "restored.csv", render_csv(table));
    if (wish_.files.report.empty()) return;
    result_.page = add_to_report(wish_.files.report, {.name = "restore", .title = "Restored images", .command = wish_.files.command, .order = 60,
                                                      .text = {}, .tables = {table}, .charts = {}, .pictures = {sheet()}}).string();
  }

  // Measured, restored and, where known, clean: a row each of up to eight images of the first batch.
  Picture sheet() const {
    const auto columns = std::min<std::int64_t>(8, shown_.front().size(0));
    std::vector<Tensor> images;
    for (const auto& row : shown_) images.push_back(row.slice(0, 0, columns));
    GridOptions options{.columns = columns, .scale = 2, .row_labels = {"measured", "restored"}};
    if (!wish_.degraded) options.row_labels.push_back("clean");
    return picture("Measured, restored" + std::string(wish_.degraded ? "" : " and clean"), grid(torch::cat(images), options));
  }

  Stopwatch since_;
  const LoadedModels& loaded_;
  const RestoreRequest& wish_;
  Observer& observer_;
  std::vector<std::string> names_;
  std::shared_ptr<const Denoiser> prior_;   // of the size asked for
  double loading_;
  MeasurementNoise noise_;
  Masks masks_;
  MethodConfig config_;
  std::optional<Degradation> common_;
  Problem problem_;
  std::vector<Tensor> shown_;
  RestoreResult result_;
  double seconds_ = 0;
};

}  // namespace

RestoreResult TorchSession::restore(const RestoreRequest& wish, Observer& observer) const {
  const torch::NoGradGuard no_grad;
  if (wish.photos.empty()) throw UsageError("restore: expected one image or more, got none");
  return Restoration(loaded_, wish, observer).run();
}

Image TorchSession::measure(const MeasureRequest& wish) const {
  const torch::NoGradGuard no_grad;
  const RestoreRequest as_restored{.photos = {wish.photo}, .masks = wish.masks};
  const auto shape = loaded_.large_prior()->shape();
  const auto g = open_degradation(loaded_, {.spec = wish.degradation, .masks = Masks(as_restored, shape).of(0, 1)});
  const auto clean = open_photo(wish.photo, shape, /*fit=*/true).unsqueeze(0).to(loaded_.device());
  const auto y = g.measure(to_unit(clean), noise_from(wish.noise), {wish.seed});
  return to_image(to_bytes(measured_picture(g, y, clean))[0]);
}

}  // namespace spnn::engine
