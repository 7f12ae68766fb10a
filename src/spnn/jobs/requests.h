#pragma once

// The functions behind a session's virtuals, one topic a file. Internal to jobs/.

#include <spnn/engine/session.h>

namespace spnn::engine {

class LoadedModels;

EditResult edit(const LoadedModels& loaded, const EditRequest& wish, Observer& observer);
ReconstructResult reconstruct(const LoadedModels& loaded, const ReconstructRequest& wish, Observer& observer);
RestoreResult restore_images(const LoadedModels& loaded, const RestoreRequest& wish, Observer& observer);
SampleResult sample(const LoadedModels& loaded, const SampleRequest& wish, Observer& observer);
ProjectResult project(const LoadedModels& loaded, const ProjectRequest& wish);
ProjectResult pinv(const LoadedModels& loaded, const PinvRequest& wish);
PartsResult parts(const LoadedModels& loaded, const PartsRequest& wish);
ValuesResult values(const LoadedModels& loaded, const ValuesRequest& wish);
Image measure_photo(const LoadedModels& loaded, const MeasureRequest& wish);
std::vector<AttributeRange> attribute_ranges(const LoadedModels& loaded);
VerifyReport verify(const LoadedModels& loaded, const VerifyRequest& wish, Observer& observer);

}  // namespace spnn::engine
