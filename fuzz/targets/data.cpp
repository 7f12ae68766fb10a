#include <spnn/data/catalogue.h>
#include <spnn/data/identities.h>
#include <spnn/data/table.h>

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdio>

#include "../fuzz.h"

namespace spnn::fuzz {
namespace {

// A file without a place on a disk, for readers that take a path.
class FileInMemory {
 public:
  explicit FileInMemory(View content) : descriptor_(memfd_create("fuzz", 0)) {
    if (write(descriptor_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
  }
  ~FileInMemory() { close(descriptor_); }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

// One table as a set with two pictures.
class TableSource final : public FileSource {
 public:
  TableSource(std::string table, View text) : files_{"1.png", "2.png", std::move(table)}, text_(text.begin(), text.end()) {}
  const std::string& name() const override { return name_; }
  const std::vector<std::string>& files() const override { return files_; }
  FileBytes read(const std::string&) const override { return FileBytes(text_); }

 private:
  std::string name_ = "fuzz";
  std::vector<std::string> files_;
  std::string text_;
};

void read_tar(View input) {
  const FileInMemory file(input);
  const auto tar = open_tar(file.path());
  std::size_t read = 0;
  for (const auto& name : tar->files()) {
    if (++read > 8) break;
    tar->read(name);
  }
  tar->find("attributes.csv");
}

// The sum of every header.
void repair_tar(Input& input) {
  constexpr std::size_t block = 512;
  for (std::size_t at = 0; at + block <= input.size();) {
    unsigned sum = 8 * ' ', size = 0;
    for (std::size_t i = 0; i < block; ++i) sum += i >= 148 && i < 156 ? 0U : input[at + i];
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum & 0777777U);
    std::copy(text, text + 7, input.begin() + static_cast<std::ptrdiff_t>(at + 148));
    for (std::size_t i = 124; i < 136 && input[at + i] >= '0' && input[at + i] <= '7'; ++i) size = size * 8 + input[at + i] - '0';
    at += block + (std::size_t{size} + block - 1) / block * block;
  }
}

void read_table(View input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  read_rows(text, Separator::comma);
  read_rows(text, Separator::blanks);
  Problems problems(/*collect=*/true);
  try {
    read_csv_table(TableSource("attributes.csv", input), "attributes.csv", problems);
  } catch (const Error&) {
  }
  read_celeba_table(TableSource("list_attr_celeba.txt", input), "list_attr_celeba.txt", problems);
}

void read_identity_table(View input) { read_identities(FileInMemory(input).path()); }

void read_packed_idx(View input) {
  Input packed(compressBound(input.size()) + 32);
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  stream.next_in = const_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  parse_idx(packed, "fuzz", 3);
}

}  // namespace

void add_data_targets(std::vector<Target>& all) {
  all.push_back({.name = "tar", .read = read_tar, .repair = repair_tar,
                 .words = {"ustar", "L", "x", "././@LongLink", "30 path=aaaa\n", "77777777777", "\x80\xff\xff\xff\xff", "./"}, .longest = 16384});
  all.push_back({.name = "idx", .read = [](View input) { parse_idx(input, "fuzz", 3); }, .words = {std::string("\0\0\x08\x03", 4), std::string("\0\0\0\x01", 4), "\x1f\x8b\x08"}});
  all.push_back({.name = "idx-gzip", .read = read_packed_idx, .words = {std::string("\0\0\x08\x03", 4), std::string("\0\0\0\x01", 4)}});
  all.push_back({.name = "table", .read = read_table, .words = {"1.png", "2.png", ",", "\"", "\"\"", "-1", "split", "train", "\r\n", "\xef\xbb\xbf", "  "}});
  all.push_back({.name = "identities", .read = read_identity_table, .words = {"000001.jpg ", " 2880\n", "\t", "-1", "99999999999999999999"}});
}

}  // namespace spnn::fuzz
