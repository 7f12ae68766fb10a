#pragma once

// Small data sets on disk, in every layout, with images that tell their number: image i is filled with the
// grey 10·i.

#include <fmt/format.h>
#include <spnn/image/image.h>

#include <string>
#include <utility>
#include <vector>

#include "support/temporary.h"

namespace spnn::testing {

inline Tensor numbered_image(int i, std::int64_t height = 8, std::int64_t width = 8) {
  return torch::full({3, height, width}, 10 * i, torch::kUInt8);
}

inline void put(const std::filesystem::path& file, std::string_view text) {
  std::filesystem::create_directories(file.parent_path());
  write_file(file, text);
}

inline void put_image(const std::filesystem::path& file, const Tensor& image) {
  std::filesystem::create_directories(file.parent_path());
  write_image(file, image);
}

// CelebAMask-HQ: images 0…9; attribute Odd is 1 for odd numbers, Big from 5 on; with_partition: 0–5 train,
// 6–7 val, 8–9 test, through a mapping that reverses the numbers.
inline void write_celeba_hq(const std::filesystem::path& root, bool with_partition) {
  std::string table = "10\nOdd Big\n", mapping = "idx orig_idx orig_file\n", partition;
  for (int i = 0; i < 10; ++i) {
    put_image(root / fmt::format("CelebA-HQ-img/{}.jpg", i), numbered_image(i));
    table += fmt::format("{}.jpg  {} {}\n", i, i % 2 ? 1 : -1, i >= 5 ? 1 : -1);
    mapping += fmt::format("{}  {}   {:06}.jpg\n", i, 9 - i, 10 - i);
    partition += fmt::format("{:06}.jpg {}\n", i + 1, i < 2 ? 2 : i < 4 ? 1 : 0);  // file i+1 is image 9−i
  }
  put(root / "CelebAMask-HQ-attribute-anno.txt", table);
  if (!with_partition) return;
  put(root / "CelebA-HQ-to-CelebA-mapping.txt", mapping);
  put(root / "list_eval_partition.txt", partition);
}

// A CSV folder of four images with one attribute.
inline void write_csv_folder(const std::filesystem::path& root) {
  for (int i = 0; i < 4; ++i) put_image(root / fmt::format("{}.png", i), numbered_image(i));
  put(root / "labels.csv", "file,Happy\n0.png,0\n1.png,1\n2.png,-1\n3.png,1\n");
}

inline std::string tar_header(const std::string& name, std::size_t size, char type) {
  std::string header(512, '\0');
  header.replace(0, std::min<std::size_t>(name.size(), 100), name.substr(0, 100));
  header.replace(100, 7, "0000644");
  header.replace(124, 11, fmt::format("{:011o}", size));
  header.replace(136, 11, "00000000000");
  header.replace(148, 8, "        ");
  header[156] = type;
  header.replace(257, 8, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const unsigned char c : header) sum += c;
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

inline std::string padded(std::string content) {
  content.resize((content.size() + 511) / 512 * 512);
  return content;
}

// A tar of (name, content); names above 100 characters as GNU or pax writes them.
inline std::string make_tar(const std::vector<std::pair<std::string, std::string>>& files, bool pax = false) {
  std::string tar;
  for (const auto& [name, content] : files) {
    if (name.size() > 100 && pax) {
      const std::string record =
          fmt::format("{} path={}\n", name.size() + 10, name);  // 3 digits, blank, "path=", "\n"
      tar += tar_header("PaxHeader", record.size(), 'x') + padded(record);
    } else if (name.size() > 100) {
      tar += tar_header("././@LongLink", name.size() + 1, 'L') + padded(name + '\0');
    }
    tar += tar_header(name, content.size(), '0') + padded(content);
  }
  return tar + std::string(1024, '\0');
}

// The files below a folder as a tar, under `prefix`.
inline std::string tar_of(const std::filesystem::path& root, const std::string& prefix) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_directory()) continue;
    const auto bytes = file_bytes(entry.path());
    files.emplace_back(prefix + entry.path().lexically_relative(root).generic_string(),
                       std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  return make_tar(files);
}

}  // namespace spnn::testing
