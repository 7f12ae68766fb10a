#include <spnn/core/json_text.h>
#include <spnn/core/text.h>

#include <utility>
#include <vector>

namespace spnn {
namespace {

// Builds the value as nlohmann's own reader does, but counts; that one's callback costs a walk over all siblings a value.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(const std::string& where, const JsonLimits& limits) : where_(where), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& value) override { return add(Json(std::move(value))); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    auto [place, fresh] = open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
    require(fresh, where_, "keys that differ", in_quotes(place->first) + " twice");
    next_ = &place->second;
    return true;
  }

  bool parse_error(std::size_t at, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    fail(where_, "JSON", fmt::format("at byte {}: {}", at, shortened(error.what())));
  }

 private:
  Json* put(Json&& value) {
    require(++count_ <= limits_.values, where_, fmt::format("at most {} JSON values", limits_.values), "more");
    if (open_.empty()) return &(root_ = std::move(value));
    if (next_) return &(*std::exchange(next_, nullptr) = std::move(value));
    auto& list = open_.back()->get_ref<Json::array_t&>();
    return &list.emplace_back(std::move(value));
  }

  bool add(Json value) {
    put(std::move(value));
    return true;
  }

  bool open(Json&& value) {
    require(static_cast<int>(open_.size()) < limits_.depth, where_, fmt::format("JSON nested at most {} deep", limits_.depth),
            "deeper nesting");
    open_.push_back(put(std::move(value)));   // stays where it is: its siblings come only after it is closed
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& where_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;
  Json* next_ = nullptr;   // the place of the key just read
  std::size_t count_ = 0;
};

}  // namespace

std::string excerpt(const Json& value) {
  return shortened(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  // nlohmann takes a zero byte for the end of the text and would not look at what follows.
  require(text.find('\0') == text.npos, where, "JSON", "a zero byte in it");
  JsonBuilder builder(where, limits);
  Json::sax_parse(text.begin(), text.end(), &builder, Json::input_format_t::json, /*strict=*/true, limits.comments);
  return builder.take();
}

}  // namespace spnn
