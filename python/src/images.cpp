#include "bindings.h"

#include <spnn/image/grid.h>
#include <spnn/image/image.h>
#include <spnn/image/resize.h>

namespace spnn::python {

void bind_images(py::module_& m) {
  m.def("read_image", [](const std::string& file) { return read_image(file); }, Unlocked());
  m.def("write_image", [](const std::string& file, const Tensor& image) { write_image(file, image); }, Unlocked());
  m.def("as_rgb", &as_rgb, Unlocked());
  m.def("as_grey", &as_grey, Unlocked());
  m.def("fit", [](const Tensor& image, std::int64_t size) { return fit(image, size, {}, "fit"); }, Unlocked());
  m.def("to_unit", &to_unit, Unlocked());
  m.def("to_bytes", [](const Tensor& x) {
    require(x.isfinite().all().item<bool>(), "to_bytes", "finite numbers", "NaN or infinity among them");
    return to_bytes(x);
  }, Unlocked());
  m.def("grid",
        [](const Tensor& images, std::int64_t columns, std::int64_t scale, std::vector<std::string> captions,
           std::vector<std::string> row_labels, std::vector<std::string> column_labels) {
          return grid(images, {.columns = columns, .scale = scale, .captions = std::move(captions),
                               .row_labels = std::move(row_labels), .column_labels = std::move(column_labels)});
        }, Unlocked());
}

}  // namespace spnn::python
