#include <spnn/checkpoint/byte_reader.h>
#include <spnn/checkpoint/torch_file.h>
#include <spnn/checkpoint/zip.h>
#include <spnn/core/text.h>

namespace spnn {
namespace {

constexpr std::string_view object_name = "data.pkl";

// "archive/" of "archive/data.pkl".
std::string folder_of(const ZipArchive& archive, const std::string& where) {
  std::vector<std::string> folders;
  for (const auto& [name, content] : archive.entries())
    if (name == object_name || name.ends_with(fmt::format("/{}", object_name)))
      folders.push_back(name.substr(0, name.size() - object_name.size()));
  require(folders.size() == 1, where, "a file of torch.save with one entry */data.pkl",
          fmt::format("a zip archive of {} entries with {}", archive.entries().size(), folders.size()));
  require(!archive.find(folders[0] + "constants.pkl"), where, "a file of torch.save", "a TorchScript archive",
          "save the state dict of the module instead");
  return folders[0];
}

bool is_big_endian(const ZipArchive& archive, const std::string& folder, const std::string& where) {
  const auto* entry = archive.find(folder + "byteorder");
  if (!entry) return false;
  const auto order = ByteReader(*entry, where).text(entry->size());
  require(order == "little" || order == "big", where, "the byte order 'little' or 'big'", in_quotes(order));
  return order == "big";
}

}  // namespace

TorchFile open_torch_zip(Bytes bytes, const std::string& where) {
  const auto archive = std::make_shared<ZipArchive>(bytes, where);
  const auto folder = folder_of(*archive, where);
  const auto storage = [archive, folder, where](const StorageRef& ref) {
    const auto* entry = archive->find(folder + "data/" + ref.key);
    require(entry, where, fmt::format("the entry {}", in_quotes(folder + "data/" + ref.key)), "none");
    return *entry;
  };
  auto pickle = std::make_unique<Pickle>(*archive->find(folder + std::string(object_name)), where);
  return {std::move(pickle), TensorReader(storage, is_big_endian(*archive, folder, where), bytes.size())};
}

}  // namespace spnn
