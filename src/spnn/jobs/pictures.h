#pragma once

// Between the pictures of the public interface and tensors. Internal to jobs/.

#include <spnn/core/observer.h>
#include <spnn/core/shape.h>
#include <spnn/engine/image.h>

#include <span>
#include <string>

namespace spnn::engine {

Tensor to_tensor(const Image& image, std::string_view where);   // uint8 [C, H, W]
Image to_image(const Tensor& bytes);                            // of uint8 [C, H, W]

std::string name_of(const Photo& photo);

// The photo upright, as it is. Errors begin with its file or name.
Tensor open_photo(const Photo& photo);

// The same as a network takes it, uint8 of this shape. `fit`: cut to its box, or the largest centred part of the shape's
// proportions, and resized, which `told` hears of; otherwise another size is an error.
Tensor open_photo(const Photo& photo, const Shape& shape, bool fit, Observer* told = nullptr);

Photo photo_file(const std::string& file);
std::vector<Photo> photo_files(std::span<const std::string> files);

}  // namespace spnn::engine
