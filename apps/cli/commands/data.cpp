#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "commands.h"
#include "restoration_options.h"

namespace spnn::cli {
namespace {

constexpr auto path_help =
    "a tar or folder in the layout of CelebAMask-HQ or CelebA, a folder of images with one CSV "
    "'file,attr1,attr2,...' (an "
    "optional column 'split' says train, val or test) or that CSV, or 'fashion-mnist' (Debian's "
    "dataset-fashion-mnist, or "
    "a folder with its IDX files)";

constexpr auto skip_bad_help =
    "leave bad lines and unreadable images out and report them, instead of stopping at the first";

void print_skipped(const std::vector<std::string>& skipped) {
  if (skipped.empty()) return;
  constexpr std::size_t shown = 20;
  std::cout << fmt::format("\nskipped {} bad entries:\n", skipped.size());
  for (std::size_t i = 0; i < std::min(shown, skipped.size()); ++i) std::cout << "  " << skipped[i] << "\n";
  if (skipped.size() > shown)
    std::cout << fmt::format("  ... and {} more (--json lists all)\n", skipped.size() - shown);
}

void print_rates(const engine::DataInfo& info) {
  if (info.attributes.empty()) return;
  std::size_t width = 9;
  for (const auto& name : info.attributes) width = std::max(width, name.size());
  std::cout << fmt::format("\n{:<{}}", info.multi_label ? "attribute" : "class", width);
  for (const auto& part : info.parts) {
    if (part.images > 0) std::cout << fmt::format("  {:>7}", part.split);
  }
  std::cout << "\n";
  for (std::size_t a = 0; a < info.attributes.size(); ++a) {
    std::cout << fmt::format("{:<{}}", info.attributes[a], width);
    for (const auto& part : info.parts) {
      if (part.images > 0) std::cout << fmt::format("  {:>5.1f} %", 100 * part.rates[a]);
    }
    std::cout << "\n";
  }
}

void print(const engine::DataInfo& info) {
  const auto size = [](const auto& s) { return fmt::format("{} × {}", s[0], s[1]); };
  const bool uniform = info.smallest == info.largest;
  std::cout << fmt::format("{}: {} images, {} pixels (height × width), {} {}\n", info.name, info.images,
                           uniform ? size(info.smallest) : size(info.smallest) + " to " + size(info.largest),
                           info.attributes.size(), info.multi_label ? "attributes" : "classes");
  std::cout << "splits: " << info.split_rule << "\n";
  for (const auto& part : info.parts)
    std::cout << fmt::format("  {:<5} {:>7} images\n", part.split, part.images);
  print_rates(info);
  print_skipped(info.skipped);
}

void add_info(CLI::App& data) {
  auto* info =
      data.add_subcommand("info", "count images, sizes and attribute rates of each split; checks every file");
  auto job = std::make_shared<engine::DataInfoJob>();
  info->add_option("PATH", job->data, path_help)->required();
  info->add_flag("--skip-bad", job->skip_bad, skip_bad_help);
  info->add_option("--json", job->json, "also write the figures to this file");
  info->callback([job] { print(engine().data_info(*job, terminal())); });
}

void add_sheet(CLI::App& data) {
  auto* sheet = data.add_subcommand("sheet", "write a contact sheet with file names and labels");
  auto job = std::make_shared<engine::DataSheetJob>();
  sheet->add_option("PATH", job->data, path_help)->required();
  sheet->add_option("-o,--output", job->output, "the sheet: .png, .webp or .jpg")
      ->required()
      ->check(CLI::Validator(
          [](const std::string& file) {
            for (const char* ending : {".png", ".webp", ".jpg", ".jpeg"}) {
              if (file.size() > std::string(ending).size() && file.ends_with(ending)) return std::string();
            }
            return fmt::format("expected a name ending in .png, .webp or .jpg, got '{}'", file);
          },
          "FILE"));
  sheet->add_option("--split", job->split, "which images")
      ->check(CLI::IsMember(splits()))
      ->capture_default_str();
  sheet->add_option("--count", job->count, "the first so many")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sheet->add_option("--columns", job->columns, "images in a row (0: about square)")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  sheet->add_option("--size", job->size, "resize to this square (0: as the files are)")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  sheet->add_option("--attributes", job->attributes, "name only these in the captions (comma-separated)")
      ->delimiter(',');
  sheet->add_flag("--skip-bad", job->skip_bad, skip_bad_help);
  sheet->callback([job] {
    const auto result = engine().data_sheet(*job, terminal());
    std::cout << fmt::format("{}: {} images, {} × {} pixels\n", job->output, result.images, result.height,
                             result.width);
    print_skipped(result.skipped);
  });
}

}  // namespace

void add_data(CLI::App& spnn) {
  auto* data = spnn.add_subcommand("data", "look at data sets");
  data->require_subcommand(1);
  add_info(*data);
  add_sheet(*data);
}

}  // namespace spnn::cli
