#pragma once

// Keyword arguments, as Python hands them over: one JSON object, read into the requests that the command fills. What is not said has the
// command's default.

#include <spnn/core/config.h>
#include <spnn/engine/requests.h>

namespace spnn::python {

struct RestoreOptions {
  engine::SamplingOptions sampling;
  engine::MethodOptions method;
};

// Unknown words are UsageErrors that list the known ones.
engine::SamplingOptions sampling_options(const std::string& json);
RestoreOptions restore_options(const std::string& json);
engine::EditRequest edit_request(const std::string& json);
engine::ReconstructRequest reconstruct_request(const std::string& json);

// {"edit": {…}, "reconstruct": {…}, "restore": {…}, "sample": {…}}: the defaults, so that Python can say the same ones.
std::string defaults();

// The paper's settings to the letter as keywords: of an edit of so many attributes; 0 is reconstruction.
std::string paper_options(std::int64_t attributes);

}  // namespace spnn::python
