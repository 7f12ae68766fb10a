#include <gtest/gtest.h>
#include <spnn/checkpoint/checkpoint.h>
#include <spnn/checkpoint/pickle.h>

#include "support/damage.h"
#include "support/temporary.h"
#include "support/torch_writer.h"

namespace spnn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace spnn::testing;
using Kind = PickleValue::Kind;

std::string refused(const std::string& object) {
  const auto whole = opcodes::whole(object);
  return refusal([](auto bytes) { Pickle(bytes, "f"); }, std::as_bytes(std::span(whole)));
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Pickle, PlainValuesKeepTheirMeaning) {
  const auto whole = opcodes::whole(opcodes::list(
      {"N", "\x88", opcodes::integer(-5), opcodes::integer(1LL << 40), std::string("\x8a\x02\x18\xfc", 4),
       "I01\n", "L-12L\n", std::string("G\x3f\xf8\0\0\0\0\0\0", 9), opcodes::text("é")}));
  const Pickle pickle(std::as_bytes(std::span(whole)), "f");
  const auto& items = pickle.root().items;
  ASSERT_EQ(items.size(), 9U);
  EXPECT_TRUE(items[0]->is(Kind::none));
  EXPECT_TRUE(items[1]->is(Kind::boolean) && items[1]->integer == 1);
  EXPECT_EQ(items[2]->integer, -5);
  EXPECT_EQ(items[3]->integer, 1LL << 40);
  EXPECT_EQ(items[4]->integer, -1000);
  EXPECT_TRUE(items[5]->is(Kind::boolean) && items[5]->integer == 1);
  EXPECT_EQ(items[6]->integer, -12);
  EXPECT_EQ(items[7]->real, 1.5);
  EXPECT_EQ(items[8]->text, "é");
  EXPECT_EQ(pickle.length(), whole.size());
}

TEST(Pickle, AnyGlobalOutsideTheListIsRefusedByName) {
  EXPECT_THAT(refused(opcodes::call("os", "system", {opcodes::text("true")})),
              AllOf(HasSubstr("the global 'os.system'"), HasSubstr("nothing in the file was executed")));
  EXPECT_THAT(refused(opcodes::global("builtins", "eval")), HasSubstr("'builtins.eval'"));
  EXPECT_THAT(refused(opcodes::global("torch", "load")), HasSubstr("'torch.load'"));
  EXPECT_THAT(refused(opcodes::text("posix") + opcodes::text("system") + "\x93"),
              HasSubstr("'posix.system'"));
  EXPECT_THAT(refused("(ios\nsystem\n"), HasSubstr("an object of 'os.system'"));
  EXPECT_THAT(refused(opcodes::global("collections", "OrderedDict") + ")\x81"),
              HasSubstr("an object of a Python class"));
}

TEST(Pickle, AFileOfPythonsThatWouldRunACommandDoesNot) {
  const auto file = std::string(SPNN_SOURCE_DIR) + "/tests/fixtures/checkpoint/evil.pth";
  EXPECT_THAT(refusal([&] { read_checkpoint(file); }), HasSubstr("the global 'posix.system'"));
  EXPECT_FALSE(std::filesystem::exists("executed"));
}

TEST(Pickle, OnlyKnownFunctionsCanBeCalled) {
  EXPECT_THAT(refused("N)R"), HasSubstr("a call of a global, got one of None"));
  EXPECT_THAT(refused(opcodes::text("system") + ")R"), HasSubstr("a call of a global"));
  EXPECT_THAT(refused(opcodes::global("torch", "FloatStorage") + ")R"),
              HasSubstr("a call of 'torch.FloatStorage'"));
  EXPECT_THAT(refused(opcodes::global("collections", "OrderedDict") + "NR"), HasSubstr("arguments"));
  EXPECT_THAT(refused("]}b"), HasSubstr("a state for a list"));
}

TEST(Pickle, TheStackCannotBeUnderrun) {
  for (const std::string object :
       {"",    "0",   "1",    "a",    "s",    "u",    "e",    "t",  "l",  "d", "R",  "b",  "Q",   "2",
        "q\1", "h\1", "\x85", "\x86", "\x87", "\x93", "\x94", "]a", "}s", "(", "N(", "NN", "(]a", "}(Nu"})
    EXPECT_NE(refused(object), "") << object;
}

TEST(Pickle, LengthsBeyondTheEndAreRefused) {
  for (const std::string start :
       {"X\xff\xff\xff\xff", "B\xff\xff\xff\x7f", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff",
        "\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", "T\xff\xff\xff\x7f", "U\xff", "\x8a\xff"})
    EXPECT_THAT(refused(start + "abc"), HasSubstr("expected")) << start;
  EXPECT_THAT(refused(join({"c", std::string(2000, 'a')})), HasSubstr("one without an end"));
  EXPECT_THAT(refused("I12x\n"), HasSubstr("an integer"));
  EXPECT_THAT(refused("I99999999999999999999999\n"), HasSubstr("an integer"));
}

TEST(Pickle, DeepNestingIsHarmless) {
  const int depth = 300000;
  const auto whole = opcodes::whole(repeated("]", depth) + repeated("a", depth - 1));
  const Pickle pickle(std::as_bytes(std::span(whole)), "f");
  EXPECT_TRUE(pickle.root().is(Kind::list));
  const auto file = TorchWriter(TorchWriter::Format::zip).file(repeated("(", depth) + repeated("t", depth));
  EXPECT_THAT(refusal([&] { read_checkpoint(std::as_bytes(std::span(file)), "f"); }),
              HasSubstr("a tuple of 1"));
}

TEST(Pickle, ValuesAndReferencesAreBounded) {
  EXPECT_THAT(refused(join({"(", repeated("N", 3 << 20), "t"})), HasSubstr("at most"));
  EXPECT_THAT(refused(repeated("(", 3 << 20)), HasSubstr("at most"));
  EXPECT_THAT(refused(join({"N", repeated("2", 3 << 20)})), HasSubstr("at most"));
  // A large tuple, remembered and used again and again: each use would copy it.
  const auto large = join({"(", repeated("N", 100000), "tq\1"});
  EXPECT_THAT(refused(large + repeated("h\1Q0", 1000)), HasSubstr("references"));
  EXPECT_THAT(refused(large + repeated("ctorch\nSize\nh\1\x85R0", 1000)), HasSubstr("references"));
}

TEST(Pickle, AMemoBombStaysSmall) {
  // Lists of two references to the list before: 2^100000 values if anyone walked them.
  std::string object = "]q\1";
  for (int i = 0; i < 100000; ++i) object += "0](h\1h\1eq\1";
  const auto whole = opcodes::whole(object);
  const Pickle pickle(std::as_bytes(std::span(whole)), "f");
  EXPECT_EQ(pickle.root().items.size(), 2U);
  EXPECT_THAT(refused("Nr\xff\xff\xff\xffj\xfe\xff\xff\xff"), HasSubstr("a value remembered before"));
}

TEST(Pickle, AListThatHoldsItselfIsOnlyAList) {
  const auto file = TorchWriter(TorchWriter::Format::zip).file("]q\1h\1a");
  EXPECT_THAT(refusal([&] { read_checkpoint(std::as_bytes(std::span(file)), "f"); }),
              HasSubstr("got a list of 1"));
}

TEST(Pickle, AParameterAroundItselfIsNoTensor) {
  const auto wrap = [](const std::string& inside) {
    return opcodes::call("torch._utils", "_rebuild_parameter", {inside, "N", "N"});
  };
  auto nested = wrap("N");
  for (int i = 0; i < 50; ++i) nested = wrap(nested);
  const auto file = TorchWriter(TorchWriter::Format::zip).file(opcodes::dict({{"w", nested}}));
  EXPECT_THAT(refusal([&] { read_checkpoint(std::as_bytes(std::span(file)), "f"); }),
              HasSubstr("a call of 'torch._utils._rebuild_parameter'"));
}

TEST(Pickle, RandomOpcodesNeverCrash) {
  std::mt19937 random(1);
  const std::string alphabet(
      "()]}.0123NIJKLMGXTUBCtlaeduscqrhjRbQio\x80\x81\x85\x86\x87\x88\x8a\x8c\x93\x94\x95\0\1\n", 53);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string object;
    for (auto length = random() % 40; length > 0; --length) object += alphabet[random() % alphabet.size()];
    refused(object);
  }
}

}  // namespace
}  // namespace spnn
