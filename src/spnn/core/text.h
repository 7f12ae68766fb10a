#pragma once

#include <spnn/core/errors.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>

namespace spnn {

// Text of a file or a user as a terminal may see it: control characters (escape sequences among them) become '?'; line
// breaks stay.
std::string printable(std::string_view text);

// Such text as an error quotes it: without line breaks, at most `longest` bytes and then "…".
inline constexpr std::size_t longest_quote = 200;
std::string shortened(std::string_view text, std::size_t longest = longest_quote);
std::string in_quotes(std::string_view text, std::size_t longest = 80);

// Text inside the elements and attributes of SVG and HTML.
std::string xml_escaped(std::string_view text);

// Runs `work`; what a library throws inside (memory that is not there, a message of libtorch) becomes an Error that says
// which file it was about.
template <class Work>
auto naming_the_file(const std::string& file, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    fail(file, "memory enough to read it", "none left");
  } catch (const std::exception& error) {
    fail(file, "a file that can be read", shortened(what_without_backtrace(error)));
  }
}

}  // namespace spnn
