#pragma once

namespace spnn::cli {

// From here on what is printed to standard output, by printf, fmt::print or std::cout, reaches it without control
// characters but line breaks and tabs: names and texts of files cannot command a terminal. `flush_standard_output` says
// whether everything has been written: false, with the reason on standard error, on a full disk.
void guard_standard_output();
bool flush_standard_output();

}  // namespace spnn::cli
