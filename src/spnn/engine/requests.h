#pragma once

// What a session can be asked for and what it answers. Images are memory or files; answers are data. Where a request has
// `files`, every finished image is also written there before the next batch begins.

#include <spnn/engine/field.h>
#include <spnn/engine/image.h>
#include <spnn/engine/restoration.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spnn::engine {

// Where results also go; empty: nowhere.
struct FileOutput {
  std::string folder = {};    // NAME.png, or NAME-1.png … with several samples
  std::string report = {};    // a folder for report.html, with the tables as CSV beside it
  std::string command = {};   // as typed, for the report
};

struct Timings {
  double loading = 0;             // seconds this request waited for models to be loaded: 0 from the second request on
  double until_first_step = 0;    // from the call to the beginning of sampling
  double total = 0;
  double per_image = 0;           // of sampling and projecting
};

// ---- edit and reconstruct

struct EditRequest {
  std::vector<Photo> photos = {};                   // empty: from noise
  std::vector<AttributeRequest> attributes = {};    // one or more
  bool fit = true;                                  // false: a photo of another size is an error
  std::optional<double> keep = {};                  // 0 … 1: how much of the photo stays; none: as found best
  double amount = photo_amount;                     // of attributes of a photo without a degree: so many times what photos with them have
  bool invent = false;                              // at a larger size: new detail from the second stage instead of the photo's own
  bool fast = false;                                // one back-projection and no diffusion: milliseconds
  double strength = 2.0, margin = 4.0;              // what an attribute without a value aims at: μ ± strength·σ, `margin` beyond 0 at least
  bool each_step = false;                           // targets are read from g(x̂0) again at every step; otherwise once
  bool redraw = false;                              // a photo is noised up to the window and drawn again; otherwise it is moved first
  std::int64_t samples = 1;                         // images for each photo, or in all
  std::uint64_t seed = 0;                           // image i is made from seed + i, whatever the batch
  SamplingOptions sampling = {};
  GuidanceOptions guidance = {.metric = "residual", .schedule = "adaptive"};
  bool ask_judge = false;                           // fill `judge` of the results (needs the judge)
  FileOutput files = {};
};

struct ReconstructRequest {                         // from exactly one of images, attributes, outputs
  std::vector<Photo> images = {};                   // their outputs are measured and become targets,
  std::vector<AttributeRequest> attributes = {};    // or attributes, the others following by covariance,
  std::vector<std::vector<double>> logits = {};     // or outputs of g, one row per target,
  std::string logits_file = {};                     // or such rows in a CSV file
  bool fit = true;
  double strength = 2.0, margin = 4.0;
  std::int64_t samples = 1;                         // images for each target
  std::uint64_t seed = 0;
  SamplingOptions sampling = {};
  GuidanceOptions guidance = {};
  bool ask_judge = false;
  FileOutput files = {};
};

struct MadeImage {
  Image image = {};
  std::string name = {}, source = {};       // NAME.png, and what it was made from
  std::string file = {};                    // where it was written; empty: nowhere
  std::uint64_t seed = 0;
  std::vector<double> outputs = {};         // g of the 8-bit image
  std::vector<double> target = {};          // what was aimed at: the one that was used, never computed again
  std::vector<double> judge = {};           // the judge's outputs; empty: not asked
  double agreement = 0;                     // share of the wanted outputs that are as asked
  double mean_abs_dp = 0;                   // of the wanted outputs
  double consistency_sampled = 0;           // √mean (g(x) − y)² as sampled,
  double consistency = 0;                   // and of the 8-bit image
};

struct MadeImages {
  std::vector<MadeImage> images = {};
  std::vector<std::int64_t> controlled = {};   // numbers of the outputs that were asked for; empty: all
  double agreement = 0, mean_abs_dp = 0;       // means over the images
  Timings timings = {};
  std::string page = {};                       // the report, if one was asked for
};
using EditResult = MadeImages;
using ReconstructResult = MadeImages;

// ---- sample

struct SampleRequest {
  std::int64_t count = 1;
  std::uint64_t seed = 0;
  SamplingOptions sampling = {.steps = 100};
  std::string output = {};                  // also a folder for SEED.png files, or NAME.png for one sheet; empty: neither
};

struct SampleResult {
  std::vector<Image> images = {};
  Timings timings = {};
};

// ---- restore

struct RestoreRequest {
  std::vector<Photo> photos = {};           // clean ones, which are measured first; or the measurements themselves:
  bool degraded = false;
  std::string degradation = {};             // of the catalogue: "sr4", "gamma+sr4", "model:FILE"
  std::string method = "auto";              // nlbp; ddrm for noise on a linear operator
  std::string noise = "0";                  // σ in [0, 1] pixel units, or poisson:PHOTONS
  std::vector<Photo> masks = {};            // of the operator `mask`: one for all, or one for each photo; white is seen
  std::string masks_folder = {};            // or a folder with a mask of each photo's name
  bool fit = true;
  std::uint64_t seed = 0;
  SamplingOptions sampling = {};
  MethodOptions options = {};
  FileOutput files = {};
};

struct RestoredImage {
  Image image = {}, measured = {};          // restored, and a picture of y
  std::string name = {}, source = {}, file = {};
  std::uint64_t seed = 0;
  std::optional<double> psnr = {}, ssim = {};   // where the clean image is known
  double inconsistency_sampled = 0;         // rms of g(x̂) − y as sampled, in [0, 1] pixel units,
  double inconsistency = 0;                 // and of the 8-bit image
  std::optional<double> truth = {};         // rms of D(x̂) − D(x), where g was fitted to a known black box D
};

struct RestoreResult {
  std::vector<RestoredImage> images = {};
  std::string method = {};                  // what `auto` chose
  std::int64_t evaluations = 0;             // of the prior, for each image
  Timings timings = {};
  std::string page = {};
};

// What an operator leaves of a photo, without restoring it.
struct MeasureRequest {
  Photo photo = {};
  std::string degradation = {}, noise = "0";
  std::vector<Photo> masks = {};
  std::uint64_t seed = 0;
};

// ---- one pass of the map: live

// Outputs to go to: those of an image, or values, or g of the photo; single ones set last, over what came before.
struct OutputsRequest {
  std::optional<Photo> image = {};
  std::vector<double> values = {};                          // all of them,
  std::string values_file = {};                             // or from a file: a JSON array, or numbers separated by blanks or commas
  std::vector<std::pair<std::string, double>> set = {};     // by name or number
};

struct PinvRequest {
  OutputsRequest target = {};
  std::string pseudo_inverse = "learned";
  std::uint64_t seed = 0;                   // of the random pseudo-inverse
};

struct ProjectRequest {                     // NLBP at λ
  Photo photo = {};
  OutputsRequest target = {};               // over g(photo)
  std::string pseudo_inverse = "anchored", metric = "residual";   // metric: plain, residual, naive
  double lambda = 1.0;
  std::uint64_t seed = 0;
};

struct ProjectResult {
  Image image = {};
  std::vector<double> before = {};          // g of the photo (of pinv: of the zero image)
  std::vector<double> target = {};
  std::vector<double> after = {};           // g of the result,
  std::vector<double> saved = {};           // and of its 8-bit image
  double consistency = 0;                   // max |g(x') − ((1−λ)g(x) + λy)|
  double consistency_saved = 0;
  double moved = 0;                         // root mean square of x' − x
  double seconds = 0;
};

// A photo taken apart: x = range + null.
struct PartsRequest {
  Photo photo = {};
  std::string pseudo_inverse = "anchored";
};

struct PartsResult {
  Image photo = {};                         // as g sees it
  Image range = {};                         // g†(g(x)): all that g knows of it
  Image null = {};                          // x − g†(g(x)), around grey: what g cannot see
  Image without = {};                       // G⁻¹([g(0) | q(x)]): the photo whose outputs are those of the zero image
};

// ---- what the networks say

struct ValuesRequest {
  Photo photo = {};
  bool judge = false;
};

struct ValuesResult {
  Image photo = {};                         // as g sees it
  std::vector<double> outputs = {}, judge = {};
  std::vector<double> probabilities = {}, judge_probabilities = {};
};

// Outputs of g over training images that have (do not have) an attribute.
struct AttributeRange {
  std::string name = {};
  double mean = 0, deviation = 0;           // over all training images
  double low = 0, high = 0;                 // 1 % and 99 % of the exemplars
  double without = 0, with = 0;             // medians of the exemplars on either side of 0
};

// ---- verify

struct VerifyRequest {
  std::vector<Photo> photos = {};           // empty: random inputs
  std::int64_t count = 4;                   // of these
  std::uint64_t seed = 0;
  double tolerance = 0;                     // 0: the network's own (1e-4 in float, 1e-11 in double)
};

struct VerifyReport {
  struct Row {
    std::string name;
    double absolute, relative, tolerance;
    bool passed;
  };
  std::string network;                      // for a person: name, shapes, parameters, type
  std::vector<Row> residuals;
  double plain_drift_of_learned_r = 0;      // no law: what the plain metric moves with the learned r
  bool passed = false;
};

}  // namespace spnn::engine
