#pragma once

// Who may ask: only a page that this server sent, opened under a name that is ours.

#include <optional>
#include <string>
#include <vector>

#include "http.h"

namespace spnn::studio {

struct Door {
  std::vector<std::string> names;  // of hosts, lower case: localhost, 127.0.0.1, [::1] and those that were given
  int port = 0;
  std::string token;  // asked of everything that is not a reading
};

// None: come in. Checks Host (a page of another name that resolves to us is DNS rebinding), Origin and Sec-Fetch-Site
// (other pages), the token (writes), Content-Encoding (never), in this order.
std::optional<Refusal> refused_at(const Door& door, const Request& request);

// Equal, in a time that does not tell where they differ.
bool same_secret(std::string_view a, std::string_view b);

// 128 random bits of the system, as 32 hexadecimal digits.
std::string random_name();

}  // namespace spnn::studio
