// The surjective Linearizer: matrices on the outputs of a trained network as maps of pictures, with exact powers, products and inverses.
//   linearizer [fashion [IMAGES [SHEET.png [DRAWN]]]]   a matrix that takes each class of clothes to the next; ten times is the identity
//   linearizer faces PHOTOS [IMAGES [SHEET.png]]        mirrors of attributes, which commute and undo themselves; PHOTOS: a folder or CelebA-HQ
#include <spnn/spnn.h>

#include <cmath>
#include <cstdio>
#include <string>

using spnn::AffineMap, spnn::Lift, spnn::Linearizer, torch::Tensor;

namespace {

struct Models {
  spnn::SpnnModel classifier;
  std::shared_ptr<const spnn::SpnnProjector> g;
  std::shared_ptr<spnn::Judge> judge;   // took no part in the training of g

  explicit Models(const std::string& family)
      : classifier(spnn::load_spnn(spnn::engine::model_file("", family, "classifier"))),
        g(std::make_shared<spnn::SpnnProjector>(classifier.net, spnn::SpnnProjectorConfig{.pseudo_inverse = spnn::PseudoInverse::learned,
                                                                                          .metric = spnn::Metric::residual})),
        judge(spnn::load_judge(spnn::engine::model_file("", family, "judge")).net) {}

  spnn::Dataset load(const std::string& place, spnn::Split split, std::int64_t count) const {
    const auto shape = g->in_shape();
    return spnn::load_dataset(place, {.split = split, .size = shape.height, .channels = shape.channels, .limit = count});
  }
  Tensor judged(const Tensor& x) const { return judge->forward(spnn::to_unit(spnn::to_bytes(x))); }   // of the picture as it is saved
  Tensor saved_and_read(const Tensor& x) const { return spnn::to_unit(spnn::to_bytes(x)); }
};

double largest(const Tensor& x) { return x.abs().max().item<double>(); }
double share(const Tensor& yes) { return 100 * yes.to(torch::kFloat64).mean().item<double>(); }
double psnr(const Tensor& a, const Tensor& b) { return 10 * std::log10(4 / (a - b).square().mean().item<double>()); }

// The mean outputs of each class over training images, as columns: [10, 10].
Tensor class_means(const Models& m, const spnn::Dataset& set) {
  std::vector<Tensor> columns;
  const auto y = m.g->forward(spnn::to_unit(set.images)).to(torch::kFloat64);
  for (std::int64_t c = 0; c < y.size(1); ++c) columns.push_back(y.index({set.labels == c}).mean(0));
  return torch::stack(columns, 1);
}

// The same A with a prior: pictures of which g says Aⁿ g(x), drawn by guided diffusion instead of taken from g†.
void draw(const Models& m, const AffineMap& A, const spnn::Dataset& test, std::int64_t count) {
  const auto prior = spnn::load_prior(spnn::engine::model_file("", "fashion", "prior"));
  const spnn::Degradation seen{.name = "A^n g", .g = m.g};
  const auto y = m.g->forward(spnn::to_unit(test.images.slice(0, 0, count)));
  spnn::Observer silent;
  for (const std::int64_t n : {1, 5}) {
    const auto made = spnn::restore_by("nlbp", {.prior = *prior, .g = seen, .y = A.power(n)(y), .seeds = spnn::ImageSeeds(1, y.size(0))},
                                       {.sampler = {.steps = 25}}, silent);
    const auto wanted = (test.labels.slice(0, 0, count) + n) % 10;
    std::printf("n = %ld, drawn with the prior: judge %.1f %%, g %.1f %%\n", static_cast<long>(n), share(m.judged(made).argmax(1) == wanted),
                share(m.g->forward(m.saved_and_read(made)).argmax(1) == wanted));
  }
}

int clothes(std::int64_t count, const std::string& sheet, std::int64_t drawn) {
  const Models m("fashion");
  const auto train = m.load("fashion-mnist", spnn::Split::train, 3000), test = m.load("fashion-mnist", spnn::Split::test, count);
  const auto x = spnn::to_unit(test.images);
  const auto A = spnn::cycle_of(class_means(m, train));
  const Linearizer f(m.g, A), F(m.g, A, Lift::completion);
  std::printf("|A^10 - I| = %.1e, condition of A %.1f\n", largest(A.power(10).A - torch::eye(10, torch::kFloat64)),
              torch::linalg_cond(A.A).item<double>());
  std::printf("%3s %12s  %-36s  %-36s\n", "n", "A^n g(x)", "f = g'Ag: judge, applied n times", "F keeps q: judge, applied n times");
  const auto y = m.g->forward(x);
  auto f_n = x, F_n = x;
  std::vector<Tensor> shown{x.slice(0, 0, 8)}, kept{x.slice(0, 0, 8)};
  double worst = 0;
  for (std::int64_t n = 1; n <= 10; ++n) {
    f_n = f.forward(f_n);
    F_n = F.forward(F_n);
    const auto at_once = f.power(n).forward(x), kept_at_once = F.power(n).forward(x);
    const auto wanted = (test.labels + n) % 10;
    const double off = largest(at_once - f_n), kept_off = largest(kept_at_once - F_n);
    worst = std::max({worst, off, kept_off});
    std::printf("%3ld %10.1f %%  %6.1f %%, off by %.1e %14s %6.1f %%, off by %.1e\n", static_cast<long>(n), share(A.power(n)(y).argmax(1) == wanted),
                share(m.judged(at_once).argmax(1) == wanted), off, "",
                share(m.judged(kept_at_once).argmax(1) == wanted), kept_off);
    shown.push_back(at_once.slice(0, 0, 8));
    kept.push_back(kept_at_once.slice(0, 0, 8));
  }
  std::printf("the judge on the photos themselves: %.1f %%; on g'g(x): %.1f %%\n", share(m.judged(x).argmax(1) == test.labels),
              share(m.judged(f.power(0).forward(x)).argmax(1) == test.labels));
  std::printf("F ten times: largest difference from the photo %.1e, %.1f dB; F, saved in 8 bits, F backwards: %.1f dB\n", largest(F_n - x), psnr(F_n, x),
              psnr(F.pinv().forward(m.saved_and_read(F.forward(x))), x));
  if (drawn > 0) draw(m, A, test, drawn);
  if (!sheet.empty()) {
    std::vector<std::string> columns{"photo"};
    for (int n = 1; n <= 10; ++n) columns.push_back("n = " + std::to_string(n));
    const auto row_by_row = [](const std::vector<Tensor>& all) { return torch::stack(all, 1).slice(0, 0, 4).flatten(0, 1); };
    spnn::write_image(sheet, spnn::grid(torch::cat({row_by_row(shown), row_by_row(kept)}), {.columns = 11, .scale = 2, .column_labels = columns}));
  }
  return worst < 1e-2 ? 0 : 1;
}

int faces(const std::string& place, std::int64_t count, const std::string& sheet) {
  const Models m("celebahq64");
  const bool folder = std::filesystem::is_directory(place);
  const auto x = spnn::to_unit(m.load(place, folder ? spnn::Split::all : spnn::Split::val, count).images);
  const std::vector<std::string> names{"Smiling", "Blond_Hair", "Young"};
  const auto& all = m.classifier.outputs.names;
  std::vector<std::int64_t> numbers;
  std::vector<Linearizer> mirrors;
  for (const auto& name : names) {
    numbers.push_back(std::ranges::find(all, name) - all.begin());
    mirrors.emplace_back(m.g, AffineMap::scaled(static_cast<std::int64_t>(all.size()), numbers.back(), -1), Lift::completion);
  }
  const auto before = m.judged(x) > 0;
  const auto turned = [&](const Tensor& made, std::size_t i) { return share((m.judged(made) > 0).select(1, numbers[i]) != before.select(1, numbers[i])); };
  std::vector<Tensor> shown{x};
  std::vector<std::string> columns{"photo"};
  for (unsigned corner = 1; corner < 8; ++corner) {   // the group of three mirrors: eight pictures of each photo
    Linearizer edit(m.g, AffineMap::identity(static_cast<std::int64_t>(all.size())), Lift::completion);
    Tensor forwards = x, backwards = x;
    std::string what, judge;
    for (std::size_t i = 0; i < 3; ++i) {
      if (corner >> i & 1) edit = mirrors[i].after(edit), forwards = mirrors[i].forward(forwards), what += (what.empty() ? "" : "+") + names[i];
      if (corner >> (2 - i) & 1) backwards = mirrors[2 - i].forward(backwards);
    }
    const auto made = edit.forward(x);
    for (std::size_t i = 0; i < 3; ++i) {
      if (corner >> i & 1) judge += std::to_string(static_cast<int>(std::lround(turned(made, i)))) + " % ";
    }
    std::printf("%-26s judge sees it turned: %-15s orders differ by %.1e, twice gives the photo to %.1e, %5.1f dB; through 8 bits %.1f dB\n", what.c_str(),
                judge.c_str(), std::max(largest(made - forwards), largest(made - backwards)), largest(edit.forward(made) - x), psnr(edit.forward(made), x),
                psnr(edit.forward(m.saved_and_read(made)), x));
    shown.push_back(made);
    columns.push_back(what);
  }
  if (!sheet.empty()) {
    const auto rows = std::min<std::int64_t>(6, x.size(0));
    for (auto& label : columns) std::ranges::replace(label, '_', ' ');
    spnn::write_image(sheet, spnn::grid(torch::stack(shown, 1).slice(0, 0, rows).flatten(0, 1), {.columns = 8, .scale = 2, .column_labels = columns}));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const torch::NoGradGuard no_grad;
  const auto argument = [&](int i, const std::string& otherwise) { return argc > i ? std::string(argv[i]) : otherwise; };
  if (argument(1, "fashion") == "faces") return faces(argument(2, "."), std::stoll(argument(3, "100")), argument(4, ""));
  return clothes(std::stoll(argument(2, "100")), argument(3, ""), std::stoll(argument(4, "0")));
} catch (const spnn::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
