#include <spnn/layers/module_tree.h>

namespace spnn {
namespace {

class Branch : public torch::nn::Module {};

}  // namespace

void register_at_path(torch::nn::Module& root, const std::string& path, std::shared_ptr<torch::nn::Module> module) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) {
    root.register_module(path, std::move(module));
    return;
  }
  const auto head = path.substr(0, dot);
  const auto children = root.named_children();
  auto branch = children.contains(head) ? children[head]
                                        : root.register_module<torch::nn::Module>(head, std::make_shared<Branch>());
  register_at_path(*branch, path.substr(dot + 1), std::move(module));
}

}  // namespace spnn
