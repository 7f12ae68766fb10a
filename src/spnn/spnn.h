#pragma once

// The library in one header: networks with their pseudo-inverse, operators, priors, methods, training, and the engine that
// front ends use. <spnn/engine/engine.h> alone has no torch header.

#include <spnn/checkpoint/load_prior.h>
#include <spnn/checkpoint/models.h>
#include <spnn/data/batches.h>
#include <spnn/engine/engine.h>
#include <spnn/image/grid.h>
#include <spnn/networks/presets.h>
#include <spnn/networks/spnn.h>
#include <spnn/operators/catalogue.h>
#include <spnn/operators/operator.h>
#include <spnn/projection/linearizer.h>
#include <spnn/projection/operator_projector.h>
#include <spnn/projection/nlbp.h>
#include <spnn/projection/spnn_projector.h>
#include <spnn/projection/verify.h>
#include <spnn/restoration/method.h>
#include <spnn/restoration/restore.h>
#include <spnn/training/classifier.h>
#include <spnn/training/inverse.h>
#include <spnn/training/trainer.h>
#include <spnn/version.h>
