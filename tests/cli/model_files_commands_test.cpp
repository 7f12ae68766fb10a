#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spnn/checkpoint/module_state.h>
#include <spnn/checkpoint/safetensors.h>
#include <spnn/core/config.h>
#include <spnn/core/json_text.h>
#include <spnn/image/image.h>
#include <spnn/layers/init.h>
#include <spnn/networks/unet.h>

#include "support/command.h"
#include "support/tiny_models.h"
#include "support/torch_writer.h"

namespace spnn {
namespace {

using testing::file_text;
using testing::spnn_command;
using testing::TemporaryFolder;
using testing::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string fixture(const std::string& name) {
  return std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/checkpoint/" + name;
}

std::size_t files_in(const TemporaryFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

const UNetConfig small_unet{.image_size = 8, .ch = 32, .ch_mult = {1, 2}, .num_res_blocks = 1, .attn_resolutions = {}};

TensorFile small_prior() {
  UNet net(small_unet);
  initialise(net, Rng(1));
  return {state_of(net), {{"kind", "ddpm-unet"}, {"architecture", Json(small_unet).dump()}}};
}

// The same weights as a stranger would have them: a file of PyTorch that says nothing of what it is.
void write_foreign(const std::filesystem::path& file, const TensorFile& content) {
  testing::TorchWriter writer(testing::TorchWriter::Format::zip);
  std::vector<std::pair<std::string, Tensor>> tensors(content.tensors.begin(), content.tensors.end());
  write_file(file, writer.file(writer.state(tensors)));
}

// A refusal is exit code 1, one line that begins with the file at fault, and nothing on stdout.
void expect_refusal(const testing::CommandResult& result, const std::string& file, const std::string& why) {
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr(file + ": "), HasSubstr(why)));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(InspectCommand, TellsWhatOurOwnFileIs) {
  const TemporaryFolder folder;
  write_safetensors(folder / "prior", small_prior());
  const auto result = spnn_command(fmt::format("inspect '{}' --tensors --json '{}'", (folder / "prior").string(),
                                               (folder / "report.json").string()));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("safetensors"), HasSubstr("ddpm-unet"), HasSubstr("conv_in.weight")));
  const auto report = read_config(folder / "report.json");
  EXPECT_EQ(report.at("kind"), "ddpm-unet");
  EXPECT_EQ(report.at("architecture"), Json(small_unet));
  EXPECT_EQ(report.at("tensors").size(), small_prior().tensors.size());
}

TEST(InspectCommand, TellsWhatAForeignFileIs) {
  const TemporaryFolder folder;
  write_foreign(folder / "foreign.ckpt", small_prior());
  const auto unet = spnn_command(fmt::format("inspect '{}'", (folder / "foreign.ckpt").string()));
  EXPECT_EQ(unet.exit_code, 0) << unet.err;
  EXPECT_THAT(unet.out, AllOf(HasSubstr("PyTorch zip"), HasSubstr("ddpm-unet"), HasSubstr("image_size")));
  const auto ddim = spnn_command(fmt::format("inspect '{}' --tensors", fixture("ddim_legacy.ckpt")));
  EXPECT_EQ(ddim.exit_code, 0) << ddim.err;
  EXPECT_THAT(ddim.out, AllOf(HasSubstr("PyTorch legacy"), HasSubstr("unknown"), HasSubstr("EMA"), HasSubstr("[2,3]")));
}

TEST(InspectCommand, RefusesWhatItCannotTrust) {
  const TemporaryFolder folder;
  const auto json = (folder / "report.json").string();
  const auto inspect = [&](const std::string& file) { return spnn_command(fmt::format("inspect '{}' --json '{}'", file, json)); };
  expect_refusal(inspect(fixture("evil.pth")), "evil.pth", "system");
  EXPECT_FALSE(std::filesystem::exists("executed")) << "the pickle ran";
  write_safetensors(folder / "prior", small_prior());
  const auto whole = file_text(folder / "prior");
  write_file(folder / "cut", whole.substr(0, whole.size() / 2));
  expect_refusal(inspect((folder / "cut").string()), "cut", "expected");
  write_file(folder / "page", "<!DOCTYPE html>");
  expect_refusal(inspect((folder / "page").string()), "page", "a web page");
  EXPECT_FALSE(std::filesystem::exists(json)) << "a report of a file that was refused";
  EXPECT_EQ(spnn_command("inspect '" + (folder / "absent").string() + "'").exit_code, 2);
}

TEST(ConvertCommand, MakesAForeignFileOurs) {
  const TemporaryFolder folder;
  const auto prior = small_prior();
  write_foreign(folder / "foreign.ckpt", prior);
  const auto in = (folder / "foreign.ckpt").string(), out = (folder / "ours.safetensors").string();
  const auto result = spnn_command(fmt::format("convert '{}' '{}'", in, out));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto written = read_safetensors(out);
  EXPECT_EQ(written.metadata.at("kind"), "ddpm-unet");
  EXPECT_EQ(Json::parse(written.metadata.at("architecture")), Json(small_unet));
  ASSERT_EQ(written.tensors.size(), prior.tensors.size());
  for (const auto& [name, tensor] : prior.tensors) EXPECT_TRUE(torch::equal(written.tensors.at(name), tensor)) << name;
  EXPECT_EQ(files_in(folder), 2U) << "only the input and the output";
}

TEST(ConvertCommand, HalvesAFileInPlace) {
  const TemporaryFolder folder;
  write_safetensors(folder / "prior", small_prior());
  const auto before = std::filesystem::file_size(folder / "prior");
  const auto file = (folder / "prior").string();
  const auto result = spnn_command(fmt::format("convert '{}' '{}' --half", file, file));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(std::filesystem::file_size(file), before * 6 / 10);
  EXPECT_EQ(read_safetensors(file).tensors.at("conv_in.weight").scalar_type(), torch::kFloat16);
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ConvertCommand, SaysInTheFileWhereGuidanceBegins) {
  const testing::TinyModels models;
  const auto file = models.file("classifier");
  const auto before = read_safetensors(file);
  const auto convert = [&](const std::string& options) { return spnn_command(fmt::format("convert '{}' '{}' {}", file, file, options)); };
  const auto first = convert("--reconstruct-window 900");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(convert("--edit-window 600").exit_code, 0);
  ASSERT_EQ(convert("--reconstruct-window 1000").exit_code, 0) << "what is there can be changed";
  auto after = read_safetensors(file);
  EXPECT_EQ(Json::parse(after.metadata.at("guidance")), (Json{{"reconstruct_window", 1000}, {"edit_window", 600}}));
  after.metadata.erase("guidance");
  after.metadata["checksum"] = before.metadata.at("checksum");
  EXPECT_EQ(after.metadata, before.metadata);
  ASSERT_EQ(after.tensors.size(), before.tensors.size());
  for (const auto& [name, tensor] : before.tensors) {
    EXPECT_EQ(after.tensors.at(name).dtype(), tensor.dtype()) << name;
    EXPECT_TRUE(torch::equal(after.tensors.at(name), tensor)) << name;
  }
  const auto inspected = spnn_command("inspect '" + file + "'");
  EXPECT_THAT(inspected.out, AllOf(HasSubstr("guidance\n"), HasSubstr("reconstruct_window"), HasSubstr("1000"), HasSubstr("edit_window")));

  const auto bytes = file_text(file);
  EXPECT_EQ(convert("--edit-window 0").exit_code, 2);
  EXPECT_EQ(convert("--edit-window 1001").exit_code, 2);
  EXPECT_EQ(file_text(file), bytes);
  expect_refusal(spnn_command(fmt::format("convert '{0}' '{0}' --edit-window 5", models.file("prior"))), models.file("prior"),
                 "expected a model of kind 'spnn', whose guidance has a window, got one of kind 'ddpm-unet'");
}

TEST(ConvertCommand, GivesAForeignSpnnNamesAndStatisticsSoThatItCanEdit) {
  const TemporaryFolder folder;
  const testing::TinyModels models;
  const auto whole = read_safetensors(models.file("classifier"));
  TensorFile bare{{}, {{"kind", "spnn"}, {"architecture", whole.metadata.at("architecture")}}};
  for (const auto& [name, tensor] : whole.tensors)
    if (!name.starts_with("statistics.")) bare.tensors[name] = tensor;
  write_safetensors(folder / "bare", bare);
  const auto edit = [&](const std::string& file) {
    return spnn_command(fmt::format("edit --set Cat --steps 2 --classifier {} --prior {} -o {}", (folder / file).string(), models.file("prior"),
                                    (folder / "out").string()));
  };
  EXPECT_NE(edit("bare").exit_code, 0);
  std::filesystem::create_directories(folder / "data");
  std::string table = "file", names;
  for (const auto& name : parse_json(whole.metadata.at("attributes"), "names")) {
    table += "," + name.get<std::string>();
    names += name.get<std::string>() + "\n";
  }
  for (int i = 0; i < 40; ++i) {
    const auto file = fmt::format("{:02}.png", i);
    write_image(folder / ("data/" + file), (Rng(i).uniform({1, 32, 32}) * 255).to(torch::kUInt8));
    table += "\n" + file;
    for (int a = 0; a < 10; ++a) table += (i + a) % 2 == 0 ? ",1" : ",-1";
  }
  write_file(folder / "data/attributes.csv", table + "\n");
  write_file(folder / "names.txt", names);
  const auto converted = spnn_command(fmt::format("convert {} {} --attributes {} --statistics {}", (folder / "bare").string(), (folder / "named").string(),
                                                  (folder / "names.txt").string(), (folder / "data").string()));
  ASSERT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_EQ(read_safetensors(folder / "named").tensors.at("statistics.mean").numel(), 10);
  EXPECT_EQ(edit("named").exit_code, 0) << edit("named").err;
  write_file(folder / "names.txt", "Cat\nCat\n");
  expect_refusal(spnn_command(fmt::format("convert {} {} --attributes {}", (folder / "bare").string(), (folder / "twice").string(), (folder / "names.txt").string())),
                 (folder / "names.txt").string(), "expected different names");
}

TEST(ReconstructCommand, HelpSaysWhereGuidanceBegins) {
  for (const auto& [command, window] : {std::pair{"reconstruct", 1000}, {"edit", 500}, {"evaluate reconstruction", 1000}, {"evaluate editing", 500}, {"ablate", 1000}}) {
    EXPECT_THAT(spnn_command(fmt::format("{} --help", command)).out, HasSubstr(fmt::format("as the classifier's file says, else {}", window))) << command;
  }
}

TEST(ConvertCommand, ARefusedInputLeavesTheOldOutput) {
  const TemporaryFolder folder;
  write_safetensors(folder / "prior", small_prior());
  const auto whole = file_text(folder / "prior");
  auto flipped = whole;
  flipped[whole.size() - 5] ^= 1;   // the checksum must see it
  write_file(folder / "cut", whole.substr(0, whole.size() - 1));
  write_file(folder / "flipped", flipped);
  write_safetensors(folder / "large", {{{"w", torch::full({3}, 1e6)}}, {}});   // beyond half precision
  write_file(folder / "out", "the old content");
  const auto files = files_in(folder);
  const auto out = (folder / "out").string();
  for (const std::string name : {"cut", "flipped", "large"}) {
    const auto result = spnn_command(fmt::format("convert '{}' '{}' --half", (folder / name).string(), out));
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_THAT(result.err, HasSubstr("expected")) << name;
    EXPECT_EQ(file_text(out), "the old content") << name;
    EXPECT_EQ(files_in(folder), files) << name << ": something half-written is left";
  }
  expect_refusal(spnn_command(fmt::format("convert '{}' '{}'", fixture("evil.pth"), out)), "evil.pth", "system");
  EXPECT_EQ(file_text(out), "the old content");
}

TEST(ConvertCommand, SaysWhyTheOutputCannotBeWritten) {
  const TemporaryFolder folder;
  write_safetensors(folder / "prior", small_prior());
  std::filesystem::create_directory(folder / "directory");
  const auto files = files_in(folder);
  for (const std::string name : {"absent/out", "directory", "prior/out"}) {
    const auto out = (folder / name).string();
    const auto result = spnn_command(fmt::format("convert '{}' '{}'", (folder / "prior").string(), out));
    expect_refusal(result, out, "");
    EXPECT_EQ(files_in(folder), files) << name;
  }
  EXPECT_EQ(read_safetensors(folder / "prior").tensors.size(), small_prior().tensors.size());
}

TEST(ConvertCommand, AModelOfAnotherKindIsRefusedWhereItIsUsed) {
  const TemporaryFolder folder;
  write_foreign(folder / "foreign.ckpt", small_prior());
  const auto ours = (folder / "ours.safetensors").string();
  ASSERT_EQ(spnn_command(fmt::format("convert '{}' '{}'", (folder / "foreign.ckpt").string(), ours)).exit_code, 0);
  expect_refusal(spnn_command(fmt::format("verify '{}'", ours)), ours, "a model of kind 'spnn', got our own file of kind 'ddpm-unet'");
}

}  // namespace
}  // namespace spnn
