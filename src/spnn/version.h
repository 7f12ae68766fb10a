#pragma once

// CMake reads the version from here.
#define SPNN_VERSION_MAJOR 0
#define SPNN_VERSION_MINOR 1
#define SPNN_VERSION_PATCH 0
#define SPNN_VERSION "0.1.0"
