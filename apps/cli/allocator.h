#pragma once

namespace spnn::cli {

// Before the work begins: what jemalloc's text of settings cannot say.
void keep_large_blocks();

}  // namespace spnn::cli
