// What hardening costs: two builds of libspnn.so in one process, which take turns every few hundredths of a second, so that whatever else
// the machine does slows both alike. Processor time of one thread; the median of the ratios of neighbours, and its standard error.
//   cmake --preset release -B build/plain -DSPNN_HARDEN=OFF && cmake --build build/plain --target spnn
//   build/release/bench_hardening build/plain/libspnn.so build/release/libspnn.so [PAIRS]
// It is not linked with the library: each build finds its own functions.

#include <dlfcn.h>

#include <spnn/engine/engine.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <stdexcept>

namespace {

using namespace spnn::engine;

Engine* engine_of(const char* library) {
  void* opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!opened) throw std::runtime_error(dlerror());
  auto* engine = reinterpret_cast<Engine* (*)()>(dlsym(opened, "spnn_engine"))();
  engine->set_threads(1);
  return engine;
}

double seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// From the root of the repository: the libraries may lie anywhere.
const SessionConfig kModels{.models = {.classifier = "models/celebahq64-classifier.safetensors", .prior = "models/celebahq64-prior.safetensors"}, .load_now = true};

struct Side {
  Engine* engine;
  std::unique_ptr<Session> session = engine->open(kModels);
};

void compare(const char* name, int pairs, Side (&sides)[2], const std::function<void(Side&)>& work) {
  std::vector<double> ratios, plain;
  for (auto& side : sides) work(side);   // warms up
  for (int k = 0; k < pairs; ++k) {
    double took[2];
    for (const int which : {k % 2, 1 - k % 2}) {
      const double begin = seconds();
      work(sides[which]);
      took[which] = seconds() - begin;
    }
    ratios.push_back(took[1] / took[0]);
    plain.push_back(took[0]);
  }
  std::ranges::sort(ratios);
  std::ranges::sort(plain);
  // Half of the distance of the quartiles is 0.674 σ; the median of n has 1.253 σ/√n.
  const double sigma = (ratios[ratios.size() * 3 / 4] - ratios[ratios.size() / 4]) / 2 / 0.674;
  std::printf("%-34s %7.1f ms; hardened %+.2f %% ± %.2f\n", name, 1000 * plain[plain.size() / 2], 100 * (ratios[ratios.size() / 2] - 1),
              100 * 1.253 * sigma / std::sqrt(static_cast<double>(pairs)));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "bench_hardening: expected two libraries, got %d\n", argc - 1), 2;
  const int pairs = argc > 3 ? std::atoi(argv[3]) : 200;
  try {
    Side sides[2] = {{engine_of(argv[1])}, {engine_of(argv[2])}};
    spnn::Observer silent;
    Image grey{.width = 64, .height = 64, .channels = 3};
    for (int i = 0; i < 64 * 64 * 3; ++i) grey.pixels.push_back(static_cast<std::uint8_t>(i * 37 % 200));
    compare("the U-Net, 4 images, 2 steps", pairs, sides, [&](Side& side) { side.session->sample({.count = 4, .sampling = {.steps = 2}}, silent); });
    for (const char* metric : {"plain", "residual"}) {
      compare((std::string("NLBP of an image, ") + metric).c_str(), pairs, sides, [&](Side& side) { side.session->project({.photo = {.image = grey}, .metric = metric, .lambda = 0.5}); });
    }
    compare("loading classifier and prior", pairs / 4, sides, [](Side& side) { side.engine->open(kModels); });
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 2;
  }
}
