#include <spnn/core/errors.h>
#include <spnn/core/nearest_names.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/cellwise_operator.h>
#include <spnn/operators/circulant_operator.h>
#include <spnn/operators/clipping.h>
#include <spnn/operators/fourier_magnitude.h>
#include <spnn/operators/hadamard_operator.h>
#include <spnn/operators/inpainting.h>
#include <spnn/operators/jpeg_quantization.h>
#include <spnn/operators/line_matrices.h>
#include <spnn/operators/masks.h>
#include <spnn/operators/row_space_operator.h>
#include <spnn/operators/separable_operator.h>
#include <spnn/operators/stage.h>

#include <algorithm>
#include <functional>
#include <sstream>

namespace spnn {
namespace {

using CurvePtr = std::shared_ptr<const ToneCurve>;

// Singular values below this share of the largest are taken as zero: 8-bit rounding is amplified 33 times at most.
constexpr double default_cut = 0.03;

struct Surroundings {
  Shape in;
  Tensor masks;
};

LinearOperatorPtr blur(const Surroundings& at, Stage& s, const Tensor& A_h, const Tensor& A_w) {
  return std::make_shared<SeparableOperator>(SeparableConfig{at.in, {A_h, A_w}, s.number("cut", default_cut)}, s.whole());
}

LinearOperatorPtr convolution(const Surroundings& at, Stage& s, const Tensor& kernel) {
  return std::make_shared<CirculantOperator>(CirculantConfig{at.in, kernel, s.number("cut", default_cut)}, s.whole());
}

Tensor kernel_for(const Surroundings& at, const std::string& file) {
  if (file.empty()) throw UsageError("operator kernel: expected kernel:FILE, got no file");
  const auto kernel = read_kernel(file);
  require(kernel.size(0) <= at.in.height && kernel.size(1) <= at.in.width, file, fmt::format("a kernel of at most {} × {}", at.in.width, at.in.height),
          fmt::format("{} × {}", kernel.size(1), kernel.size(0)));
  return kernel;
}

LinearOperatorPtr radon(const Surroundings& at, Stage& s) {
  const auto angles = s.integer("angles", 12), detectors = radon_detectors(at.in.height, at.in.width);
  constexpr std::int64_t limit = std::int64_t(1) << 25;   // numbers of its matrix: 256 MB
  require(angles >= 1 && angles * detectors * at.in.height * at.in.width <= limit, s.whole(), "few angles of a small image, up to 2^25 numbers in its matrix",
          fmt::format("{} angles of {} × {} pixels", angles, at.in.width, at.in.height));
  return std::make_shared<RowSpaceOperator>(RowSpaceConfig{.in = at.in, .out = {at.in.channels, angles, detectors},
      .A = radon_matrix(at.in.height, at.in.width, angles), .cut = s.number("cut", default_cut)}, s.whole());
}

LinearOperatorPtr inpainting(const Surroundings& at, const Tensor& mask) { return std::make_shared<Inpainting>(mask, at.in); }

LinearOperatorPtr masked(const Surroundings& at, const Stage& s) {
  if (const auto file = s.text("file"); !file.empty()) return inpainting(at, read_mask(file, at.in.height, at.in.width));
  if (!at.masks.defined()) throw UsageError("operator mask: expected mask:FILE, or masks given with --mask, got neither");
  return inpainting(at, at.masks);
}

CurvePtr knots(const Stage& s) {
  auto text = s.text("knots", "0/0;0.25/0.15;0.75/0.85;1/1");
  std::ranges::replace(text, ';', ' ');
  std::ranges::replace(text, '/', ' ');
  std::istringstream in(text);
  std::vector<std::pair<double, double>> knots;
  for (double w, v; in >> w >> v;) knots.emplace_back(w, v);
  if (!in.eof()) throw UsageError(fmt::format("operator curve: expected knots such as '0/0;0.5/0.7;1/1', got '{}'", s.text("knots")));
  return std::make_shared<KnotCurve>(std::move(knots));
}

struct LinearEntry {
  OperatorInfo info;
  std::vector<std::string> keys;
  std::function<LinearOperatorPtr(const Surroundings&, Stage&)> make;
};

struct CurveEntry {
  OperatorInfo info;
  std::vector<std::string> keys;
  std::function<CurvePtr(Stage&)> make;
};

const std::vector<LinearEntry>& linear_entries() {
  static const std::vector<LinearEntry> entries = {
      {{"sr", "factor=4", "means over factor×factor cells: super-resolution", "A† repeats pixels; exact"}, {"factor"},
       [](const auto& at, Stage& s) {
         const auto f = s.integer("factor", 4);
         return std::make_shared<AveragePooling>(at.in, f);
       }},
      {{"bicubic", "factor=4, cut=0.03", "bicubic reduction", "two small SVDs; exact on the kept singular values"},
       {"factor", "cut"},
       [](const auto& at, Stage& s) {
         const auto f = s.integer("factor", 4);
         return blur(at, s, bicubic_line(at.in.height, f), bicubic_line(at.in.width, f));
       }},
      {{"box", "x,y,w,h (default: the middle half)", "a box is missing", "zero in the hole; exact"}, {"x", "y", "w", "h"},
       [](const auto& at, Stage& s) {
         const auto H = at.in.height, W = at.in.width;
         return inpainting(at, box_mask(H, W, {s.integer("x", W / 4), s.integer("y", H / 4), s.integer("w", W / 2), s.integer("h", H / 2)}));
       }},
      {{"random", "keep=0.5, seed=0", "single pixels are missing", "zero in the holes; exact"}, {"keep", "seed"},
       [](const auto& at, Stage& s) {
         return inpainting(at, random_mask(at.in.height, at.in.width, s.number("keep", 0.5), static_cast<std::uint64_t>(s.integer("seed", 0))));
       }},
      {{"freeform", "hole=0.3, seed=0", "crooked strokes are missing", "zero in the holes; exact"}, {"hole", "seed"},
       [](const auto& at, Stage& s) {
         return inpainting(at, freeform_mask(at.in.height, at.in.width, s.number("hole", 0.3), static_cast<std::uint64_t>(s.integer("seed", 0))));
       }},
      {{"mask", "FILE, or --mask FILE|FOLDER", "white is known, black is missing; one mask, or one per image", "zero in the holes; exact"},
       {"file"}, [](const auto& at, Stage& s) { return masked(at, s); }},
      {{"gauss", "sigma=1.5, cut=0.03", "Gaussian blur, reflecting borders", "two small SVDs; exact on the kept singular values"},
       {"sigma", "cut"},
       [](const auto& at, Stage& s) {
         const auto sigma = s.number("sigma", 1.5);
         return blur(at, s, gaussian_line(at.in.height, sigma), gaussian_line(at.in.width, sigma));
       }},
      {{"uniform", "size=5, cut=0.03", "mean over size×size pixels, reflecting borders", "two small SVDs; exact on the kept singular values"},
       {"size", "cut"},
       [](const auto& at, Stage& s) {
         const auto size = s.integer("size", 5);
         return blur(at, s, uniform_line(at.in.height, size), uniform_line(at.in.width, size));
       }},
      {{"aniso", "along=3, across=1, angle=45, cut=0.03", "Gaussian blur along a direction, circular borders", "Fourier; exact on the kept singular values"},
       {"along", "across", "angle", "cut"},
       [](const auto& at, Stage& s) {
         return convolution(at, s, anisotropic_kernel(s.number("along", 3), s.number("across", 1), s.number("angle", 45)));
       }},
      {{"motion", "length=9, angle=30, cut=0.03", "a camera that moved along a line, circular borders", "Fourier; exact on the kept singular values"},
       {"length", "angle", "cut"},
       [](const auto& at, Stage& s) { return convolution(at, s, motion_kernel(s.number("length", 9), s.number("angle", 30))); }},
      {{"kernel", "FILE, cut=0.03", "blur with a kernel from a file (numbers or an image), circular borders", "Fourier; exact on the kept singular values"},
       {"file", "cut"}, [](const auto& at, Stage& s) { return convolution(at, s, kernel_for(at, s.text("file"))); }},
      {{"grey", "", "Rec. 601 luma: colourisation", "spreads y over the colours; exact"}, {},
       [](const auto& at, Stage&) { return std::make_shared<Grey>(at.in); }},
      {{"cs", "keep=0.25, seed=0", "compressed sensing by shuffled Walsh–Hadamard coefficients", "fast transform, A† = Aᵀ; exact"},
       {"keep", "seed"},
       [](const auto& at, Stage& s) {
         return std::make_shared<HadamardOperator>(HadamardConfig{at.in, s.number("keep", 0.25), static_cast<std::uint64_t>(s.integer("seed", 0))});
       }},
      {{"radon", "angles=12, cut=0.03", "tomography: sums along parallel rays from few directions", "a small eigenproblem; exact on the kept singular values"},
       {"angles", "cut"}, radon},
      {{"denoise", "", "nothing but the noise", "the identity; exact"}, {},
       [](const auto& at, Stage&) { return std::make_shared<Denoising>(at.in); }},
  };
  return entries;
}

const std::vector<CurveEntry>& curve_entries() {
  static const std::vector<CurveEntry> entries = {
      {{"gamma", "g=0.4545", "tone curve w^g, before a linear operator: gamma+sr4", "φ⁻¹A†; exact"}, {"g"},
       [](Stage& s) { return std::make_shared<GammaCurve>(s.number("g", 1 / 2.2)); }},
      {{"srgb", "", "light to sRGB values", "φ⁻¹A†; exact"}, {}, [](Stage&) { return std::make_shared<SrgbCurve>(true); }},
      {{"light", "", "sRGB values to light: what a lens blurs", "φ⁻¹A†; exact"}, {}, [](Stage&) { return std::make_shared<SrgbCurve>(false); }},
      {{"log", "k=50", "logarithmic sensor", "φ⁻¹A†; exact"}, {"k"}, [](Stage& s) { return std::make_shared<LogCurve>(s.number("k", 50)); }},
      {{"compand", "mu=255", "μ-law companding", "φ⁻¹A†; exact"}, {"mu"},
       [](Stage& s) { return std::make_shared<CompandingCurve>(s.number("mu", 255)); }},
      {{"curve", "knots=0/0;0.25/0.15;0.75/0.85;1/1", "straight lines between knots", "φ⁻¹A†; exact"}, {"knots"},
       [](Stage& s) { return knots(s); }},
  };
  return entries;
}

// Neither linear nor a curve before something linear. Each stands alone, or after tone curves.
struct NonLinearEntry {
  OperatorInfo info;
  std::vector<std::string> keys;
  bool intensities;      // y is a picture, pixel by pixel
  std::function<std::shared_ptr<const Operator>(const Shape&, Stage&)> make;
};

const std::vector<NonLinearEntry>& non_linear_entries() {
  static const std::vector<NonLinearEntry> entries = {
      {{"phase", "oversample=2", "phase retrieval: magnitudes of the Fourier transform of the image on a larger black ground",
        "oversample=1: phases of the zero image, exact; more: no completion, NLBP is a step of error reduction"}, {"oversample"}, false,
       [](const Shape& in, Stage& s) { return std::make_shared<FourierMagnitude>(in, s.integer("oversample", 2)); }},
      {{"hdr", "scale=2", "high dynamic range: pixels times scale, clipped", "y/scale; exact, what was cut off is the completion"}, {"scale"}, true,
       [](const Shape& in, Stage& s) { return std::make_shared<Clipping>(in, s.number("scale", 2)); }},
      {{"jpeg", "quality=20", "JPEG, 4:4:4: cosine coefficients of 8×8 cells rounded to steps", "y; exact, the place in each step is the completion"}, {"quality"}, true,
       [](const Shape& in, Stage& s) { return std::make_shared<JpegQuantization>(in, s.integer("quality", 20)); }},
  };
  return entries;
}

template <class Entry>
const Entry* entry_of(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::ranges::find_if(entries, [&](const Entry& e) { return e.info.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

[[noreturn]] void unknown(const std::string& stage) {
  std::vector<std::string> names;
  for (const auto& info : operator_catalogue()) names.push_back(info.name);
  throw UsageError(fmt::format("operator: expected one of 'spnn operators', got '{}' (did you mean {}?)", stage,
                               fmt::join(nearest_names(stage_name(stage), names, 3), ", ")));
}

// Grey mixes colours, every other stage treats them alike, so they commute; first, grey is tight and composes with all.
void grey_first(std::vector<std::string>& stages) {
  const auto found = std::ranges::find(stages, "grey");
  if (found != stages.end()) std::rotate(stages.begin(), found, found + 1);
}

LinearOperatorPtr linear_part(std::vector<std::string> stages, const Shape& in, const Tensor& masks) {
  grey_first(stages);
  LinearOperatorPtr A;
  for (const auto& text : stages) {
    const auto* entry = entry_of(linear_entries(), stage_name(text));
    if (!entry && entry_of(curve_entries(), stage_name(text))) {
      throw UsageError(fmt::format("operator: expected tone curves before linear stages, got '{}' after one", text));
    }
    if (!entry && entry_of(non_linear_entries(), stage_name(text))) {
      throw UsageError(fmt::format("operator: expected '{}' alone or after tone curves, got other stages beside it", text));
    }
    if (!entry) unknown(text);
    Stage stage(text, entry->keys);
    const auto next = entry->make({A ? A->out_shape() : in, masks}, stage);
    A = A ? compose(next, A, default_cut) : next;
  }
  return A;
}

}  // namespace

const std::vector<OperatorInfo>& operator_catalogue() {
  static const std::vector<OperatorInfo> all = [] {
    std::vector<OperatorInfo> infos;
    for (const auto& entry : linear_entries()) infos.push_back(entry.info);
    for (const auto& entry : curve_entries()) infos.push_back(entry.info);
    for (const auto& entry : non_linear_entries()) infos.push_back(entry.info);
    infos.push_back({"model", "FILE", "any trained pseudo-invertible network; fitted by 'train degradation', a black box, which then makes y", "the network's own g†"});
    infos.push_back({"network", "FILE", "the same, but y = g(x): the network itself is what happened to the image (a learned blur)", "the network's own g†; exact"});
    return infos;
  }();
  return all;
}

NamedOperator make_operator(const std::string& spec, const Shape& in, const Tensor& masks) {
  auto stages = split_stages(spec);
  std::vector<CurvePtr> curves;
  while (!stages.empty()) {
    const auto* entry = entry_of(curve_entries(), stage_name(stages.front()));
    if (!entry) break;
    Stage stage(stages.front(), entry->keys);
    curves.push_back(entry->make(stage));
    stages.erase(stages.begin());
  }
  if (stages.empty()) stages = {"denoise"};   // a curve alone
  NamedOperator made{.spec = spec, .g = {}, .linear = {}, .A = {}};
  if (const auto* entry = entry_of(non_linear_entries(), stage_name(stages.front())); entry && stages.size() == 1) {
    Stage stage(stages.front(), entry->keys);
    made.g = entry->make(in, stage);
    made.intensities = entry->intensities;
    if (curves.empty()) made.rounding = std::dynamic_pointer_cast<const JpegQuantization>(made.g);
    if (entry->intensities) made.A = std::make_shared<Denoising>(in);   // pixel by pixel: noise hides each alike
  } else {
    made.g = made.A = linear_part(stages, in, masks);
    made.intensities = std::ranges::none_of(stages, [](const auto& s) { return stage_name(s) == "cs" || stage_name(s) == "radon"; });
    if (curves.empty()) made.linear = made.A;
  }
  for (auto phi = curves.rbegin(); phi != curves.rend(); ++phi) made.g = std::make_shared<ComposedOperator>(made.g, *phi);
  return made;
}

}  // namespace spnn
