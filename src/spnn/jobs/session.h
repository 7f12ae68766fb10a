#pragma once

#include <spnn/engine/session.h>

#include <memory>

namespace spnn::engine {

std::unique_ptr<Session> open_session(const SessionConfig& config);

}  // namespace spnn::engine
