#include <spnn/app/engine_impl.h>
#include <spnn/app/experiment.h>
#include <spnn/app/field_session.h>
#include <spnn/core/errors.h>
#include <spnn/evaluation/image_quality.h>
#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/operators/masks.h>

namespace spnn::app {
namespace {

// A folder gives every image the mask of its name; a file is everybody's.
class Masks {
 public:
  Masks(const std::string& given, const Shape& shape) : given_(given), shape_(shape) {
    if (given.empty() || std::filesystem::is_directory(given)) return;
    common_ = read_mask(given, shape.height, shape.width);
  }

  bool per_image() const { return !given_.empty() && !common_.defined(); }
  // [B, 1, H, W] of these images, or [1, 1, H, W]; undefined without masks.
  Tensor of(std::span<const std::string> images) const {
    if (given_.empty()) return {};
    if (common_.defined()) return common_.unsqueeze(0).unsqueeze(0);
    std::vector<Tensor> masks;
    for (const auto& image : images) masks.push_back(of_one(image));
    return torch::stack(masks).unsqueeze(1);
  }

 private:
  Tensor of_one(const std::string& image) const {
    const auto stem = std::filesystem::path(image).stem().string();
    for (const auto* ending : {".png", ".webp", ".jpg", ".jpeg"}) {
      const auto file = std::filesystem::path(given_) / (stem + ending);
      if (std::filesystem::exists(file)) return read_mask(file, shape_.height, shape_.width);
    }
    fail(given_, fmt::format("a mask for every image, such as {}.png", stem), "none of this name");
  }

  std::string given_;
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
Tensor read_measurement(const Degradation& g, const std::string& file) {
  const auto shape = g.fitted ? g.in_shape() : g.g->out_shape();   // what a fitted g has of D(x) is taken from the picture D(x)
  const bool readable = g.fitted || (g.intensities && !g.network() && (shape.channels == 1 || shape.channels == 3));
  if (!readable) {
    throw UsageError(fmt::format("operator {}: expected one whose measurement is a picture (sr, bicubic, box, random, mask, gauss, uniform, "
                                 "aniso, kernel, grey, denoise) for degraded files, got one that measures {} numbers", g.name, shape.size()));
  }
  auto image = read_image(file);
  image = shape.channels == 1 ? as_grey(image) : as_rgb(image);
  if (image.size(1) != shape.height || image.size(2) != shape.width) {
    const auto would = fitting_operator(g.in_shape(), image.size(1), image.size(2));
    throw UsageError(fmt::format("{}: expected {} × {} pixels, as '{}' leaves of {} × {}, got {} × {}{}", file, shape.width, shape.height, g.name,
                                 g.in_shape().width, g.in_shape().height, image.size(2), image.size(1),
                                 would.empty() ? "" : fmt::format(" ({} would fit)", would)));
  }
  return to_unit(image);
}

std::string chosen_method(const RestoreJob& job, const Degradation& g, const MeasurementNoise& noise, Observer& observer) {
  const bool noisy = noise.kind != MeasurementNoise::Kind::none;
  const auto name = job.method == "auto" ? (noisy && g.linear ? "ddrm" : "nlbp") : job.method;
  const auto& info = method_info(name);
  require_applies(info, g);
  if (noisy && !info.knows_noise) {
    observer.message(fmt::format("{} takes the measurement as exact and restores its noise too; {}", name,
                                 g.linear ? "nlbp, ddnm+, ddrm, snips and dps know of noise" : "nlbp and dps know of noise"));
  }
  return name;
}

class Restoration {
 public:
  Restoration(const RestoreJob& job, Observer& observer)
      : job_(job), observer_(observer), files_(image_files(job.images)), prior_(load_prior(model_file(job.models.prior, job.models.family, "prior"))),
        noise_(noise_from(job.noise)), masks_(job.mask, prior_->shape()), config_(method_config(job.options, job.sampling)) {
    std::vector<std::string> stems;
    for (const auto& file : files_) stems.push_back(std::filesystem::path(file).stem().string());
    names_ = output_names(stems, 1);
    if (!masks_.per_image()) common_ = degradation(0, 1);
  }

  RestoreReport run() {
    const auto count = std::ssize(files_);
    const auto batch = std::max<std::int64_t>(1, job_.sampling.batch);
    report_.method = chosen_method(job_, common_ ? *common_ : degradation(0, 1), noise_, observer_);
    require_writable_folder(job_.output);
    if (!job_.degraded) require_writable_folder(std::filesystem::path(job_.output) / "measured");
    PartOfWhole progress(observer_, (count + batch - 1) / batch);
    for (std::int64_t first = 0; first < count; first += batch, ++progress.part) {
      try {
        restore_batch(first, std::min(first + batch, count), progress);
      } catch (const Interrupted&) {
        throw Interrupted(fmt::format("interrupted: {} of {} images are in {}", report_.images.size(), count, job_.output));
      }
    }
    finish();
    return report_;
  }

 private:
  Degradation degradation(std::int64_t first, std::int64_t last) const {
    const auto images = std::span(files_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
    return make_degradation({.spec = job_.degradation, .masks = masks_.of(images), .metric = metric_from(job_.options.metric),
                             .pseudo_inverse = pseudo_inverse_from(job_.options.pseudo_inverse)},
                            prior_->shape());
  }

  void restore_batch(std::int64_t first, std::int64_t last, Observer& progress) {
    const auto g = common_ ? *common_ : degradation(first, last);
    const auto seeds = seeds_from(job_.seed + static_cast<std::uint64_t>(first), last - first);
    std::vector<Tensor> images;
    for (auto i = first; i < last; ++i) {
      const auto& file = files_[static_cast<std::size_t>(i)];
      images.push_back(job_.degraded ? read_measurement(g, file) : read_for(prior_->shape(), file, job_.fit));
    }
    const auto read = torch::stack(images);
    const auto y = !job_.degraded ? g.measure(to_unit(read), noise_, seeds) : g.fitted ? g.fitted->T.forward(read) : g.in_range(read);
    const auto solved = solve(report_.method, {*prior_, g, y, sigma_of(noise_, y), seeds}, config_, progress);
    report_.evaluations = solved.evaluations;
    seconds_ += solved.seconds;
    save(first, g, y, read, solved);
  }

  void save(std::int64_t first, const Degradation& g, const Tensor& y, const Tensor& read, const Solved& solved) {
    const auto clean = job_.degraded ? Tensor() : read;
    const auto pictures = to_bytes(measured_picture(g, y, clean));
    Tensor truth;   // D of a degraded file is the file
    if (g.has_truth()) truth = g.true_inconsistency(to_unit(solved.bytes), job_.degraded ? read : g.fitted->D(to_unit(read)));
    const auto quality = job_.degraded ? std::pair<Tensor, Tensor>() : std::pair(psnr(solved.bytes, read), ssim(solved.bytes, read));
    for (std::int64_t i = 0; i < solved.bytes.size(0); ++i) {
      const auto at = static_cast<std::size_t>(first + i);
      const auto file = std::filesystem::path(job_.output) / names_[at];
      write_image(file, solved.bytes[i]);
      if (!job_.degraded) write_image(std::filesystem::path(job_.output) / "measured" / names_[at], pictures[i]);
      RestoreReport::Image image{.file = file.string(), .source = files_[at], .seed = job_.seed + at, .inconsistency = solved.saved[i].item<double>()};
      if (!job_.degraded) {
        image.psnr = quality.first[i].item<double>();
        image.ssim = quality.second[i].item<double>();
      }
      if (truth.defined()) image.truth = truth[i].item<double>();
      report_.images.push_back(image);
      report_.inconsistency_sampled += solved.sampled[i].item<double>();
    }
    if (!shown_.empty()) return;
    shown_.push_back(job_.degraded && g.fitted ? to_bytes(read) : figure_of_measurement(g, y, clean));
    shown_.push_back(solved.bytes);
    if (!job_.degraded) shown_.push_back(read);
  }

  void finish() {
    const auto n = static_cast<double>(report_.images.size());
    Table table{.title = fmt::format("{} by {}, noise {} (in [0, 1] pixel units)", job_.degradation, report_.method, to_string(noise_)),
                .columns = {"file", "seed", "PSNR dB", "SSIM", "rms g(x)-y", "rms D(x)-D"}};
    double psnr_sum = 0, ssim_sum = 0, truth_sum = 0;
    for (const auto& image : report_.images) {
      report_.inconsistency_saved += image.inconsistency / n;
      psnr_sum += image.psnr.value_or(0);
      ssim_sum += image.ssim.value_or(0);
      truth_sum += image.truth.value_or(0);
      table.rows.push_back({std::filesystem::path(image.file).filename().string(), std::to_string(image.seed),
                            image.psnr ? fmt::format("{:.2f}", *image.psnr) : "", image.ssim ? fmt::format("{:.4f}", *image.ssim) : "",
                            fmt::format("{:.2e}", image.inconsistency), image.truth ? fmt::format("{:.2e}", *image.truth) : ""});
    }
    report_.inconsistency_sampled /= n;
    report_.seconds_per_image = seconds_ / n;
    if (report_.images.front().truth) report_.truth = truth_sum / n;
    if (!job_.degraded) {
      report_.psnr = psnr_sum / n;
      report_.ssim = ssim_sum / n;
    }
    write_text_atomically(std::filesystem::path(job_.output) / "restored.csv", render_csv(table));
    if (job_.report.empty()) return;
    report_.page = add_to_report(job_.report, {.name = "restore", .title = "Restored images", .command = job_.command, .order = 60, .text = {},
                                               .tables = {table}, .charts = {}, .pictures = {sheet()}}).string();
  }

  // Measured, restored and, where known, clean: a row each of up to eight images of the first batch.
  Picture sheet() const {
    const auto rows = job_.degraded ? 2 : 3;
    const auto columns = std::min<std::int64_t>(8, shown_.front().size(0));
    std::vector<Tensor> images;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) images.push_back(shown_[r].slice(0, 0, columns));
    GridOptions options{.columns = columns, .scale = 2, .row_labels = {"measured", "restored"}};
    if (!job_.degraded) options.row_labels.push_back("clean");
    return picture("Measured, restored" + std::string(job_.degraded ? "" : " and clean"), grid(torch::cat(images), options));
  }

  const RestoreJob& job_;
  Observer& observer_;
  std::vector<std::string> files_, names_;
  std::shared_ptr<UNetDenoiser> prior_;
  MeasurementNoise noise_;
  Masks masks_;
  MethodConfig config_;
  std::optional<Degradation> common_;
  std::vector<Tensor> shown_;
  RestoreReport report_;
  double seconds_ = 0;
};

}  // namespace

RestoreReport restore_images(const RestoreJob& job, Observer& observer) {
  const torch::NoGradGuard no_grad;
  if (job.images.empty()) throw UsageError("restore: expected one image or more, got none");
  return Restoration(job, observer).run();
}

}  // namespace spnn::app
