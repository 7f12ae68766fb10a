#include <spnn/core/json_fields.h>
#include <spnn/training/labelled_batches.h>
#include <spnn/training/move_targets.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace spnn {
namespace {

constexpr std::uint64_t kMoveKeys = 1, kMoveCounts = 2, kMoveValues = 3, kMoveLike = 4;
constexpr double kMoveMemory = 0.99;      // of the sums, a step
constexpr double kMoveUnknown = 2.5;      // an output of an attribute of which nothing was seen yet
constexpr std::int64_t kMoveLooks = 12;   // photos looked at for one that has all that was set
constexpr double kMoveLeast = 0.25;       // no value is nearer to the border than this part of the mean

std::size_t attribute_index(const std::vector<std::string>& attributes, const std::string& name, const std::string& where) {
  const auto found = std::find(attributes.begin(), attributes.end(), name);
  require(found != attributes.end(), where, "an attribute of the data set", "'" + name + "'");
  return static_cast<std::size_t>(found - attributes.begin());
}

}  // namespace

void to_json(Json& json, const MoveTargetsConfig& c) {
  json = {{"swapped", c.swapped}, {"balance", c.balance}, {"favour", c.favour}, {"exclusive", c.exclusive}};
}

void from_json(const Json& json, MoveTargetsConfig& c) {
  JsonFields(json, "targets")
      .optional("swapped", c.swapped)
      .optional("balance", c.balance)
      .optional("favour", c.favour)
      .optional("exclusive", c.exclusive)
      .no_others();
  require(c.swapped >= 0 && c.swapped <= 1 && c.balance >= 0 && c.balance <= 1, "targets", "swapped and balance in [0, 1]", json.dump());
  for (const auto& [name, times] : c.favour) require(times > 0, "targets.favour." + name, "a number above 0", std::to_string(times));
}

MoveTargets::MoveTargets(const MoveTargetsConfig& config, const Dataset& train)
    : config_(config), attributes_(static_cast<std::int64_t>(train.attributes.size())) {
  const auto yes = train.labels.to(torch::kFloat32).mean(0).clamp(1e-4, 1 - 1e-4);
  auto favour = torch::ones({attributes_});
  for (const auto& [name, times] : config.favour) favour[static_cast<std::int64_t>(attribute_index(train.attributes, name, "targets.favour"))] = times;
  weights_ = torch::stack({(1 - yes).pow(-config.balance), yes.pow(-config.balance)}) * favour;
  excludes_.assign(train.attributes.size(), std::vector<bool>(train.attributes.size(), false));
  for (const auto& group : config.exclusive) {
    for (const auto& one : group) {
      for (const auto& other : group) {
        if (one == other) continue;
        excludes_[attribute_index(train.attributes, one, "targets.exclusive")][attribute_index(train.attributes, other, "targets.exclusive")] = true;
      }
    }
  }
  sums_ = torch::zeros({2, 3, attributes_});
  labels_ = train.labels.gt(0.5).to(torch::kUInt8).contiguous();
  for (auto& side : members_) side.resize(train.attributes.size());
  const auto* label = labels_.data_ptr<std::uint8_t>();
  for (std::int64_t i = 0; i < labels_.size(0); ++i) {
    for (std::int64_t a = 0; a < attributes_; ++a) members_[*label++][static_cast<std::size_t>(a)].push_back(i);
  }
}

void MoveTargets::observe(const Tensor& y, const Tensor& labels) {
  const torch::NoGradGuard no_grad;
  const auto values = y.detach().to(torch::kFloat32);
  std::vector<Tensor> sides;
  for (const bool on : {false, true}) {
    const auto seen = (on ? labels.gt(0.5).logical_and(values.gt(0)) : labels.lt(0.5).logical_and(values.lt(0))).to(torch::kFloat32);
    sides.push_back(torch::stack({seen.sum(0), (seen * values).sum(0), (seen * values.square()).sum(0)}));
  }
  latest_ = torch::stack(sides);
}

void MoveTargets::after_step(Communicator& communicator) {
  if (!latest_.defined()) return;
  std::vector<Tensor> all{latest_};
  communicator.average(all);
  sums_ = kMoveMemory * sums_ + all.front();
}

void MoveTargets::restore(const std::map<std::string, Tensor>& state) {
  if (const auto found = state.find("targets.sums"); found != state.end()) sums_ = found->second.clone();
}

// The attributes of highest keys that do not exclude each other, and those that must go because of them.
std::vector<MoveTargets::Picked> MoveTargets::pick(const float* keys, const float* labels, std::int64_t count) const {
  std::vector<std::size_t> order(static_cast<std::size_t>(attributes_));
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  std::vector<Picked> picked;
  const auto meets = [&](std::size_t a) {
    return std::any_of(picked.begin(), picked.end(), [&](const Picked& p) { return p.on && excludes_[static_cast<std::size_t>(p.attribute)][a]; });
  };
  for (const auto a : order) {
    if (static_cast<std::int64_t>(picked.size()) == count) break;
    const bool on = labels[a] < 0.5F;
    if (!on || !meets(a)) picked.push_back({static_cast<std::int64_t>(a), on});
  }
  const auto chosen = [&](std::size_t a) {
    return std::any_of(picked.begin(), picked.end(), [&](const Picked& p) { return static_cast<std::size_t>(p.attribute) == a; });
  };
  for (const auto a : order) {
    if (labels[a] > 0.5F && !chosen(a) && meets(a)) picked.push_back({static_cast<std::int64_t>(a), false});
  }
  return picked;
}

// Among images that have the rarest of what was set, the first drawn that has the rest too, or else the last drawn.
std::int64_t MoveTargets::alike(const std::vector<Picked>& picked, const float* draws) const {
  const auto with = [&](const Picked& p) -> const std::vector<std::int64_t>& { return members_[p.on ? 1 : 0][static_cast<std::size_t>(p.attribute)]; };
  const auto& rarest = with(*std::min_element(picked.begin(), picked.end(), [&](const Picked& a, const Picked& b) { return with(a).size() < with(b).size(); }));
  if (rarest.empty()) return -1;
  const auto* labels = labels_.data_ptr<std::uint8_t>();
  std::int64_t image = -1;
  for (std::int64_t look = 0; look < kMoveLooks; ++look) {
    image = rarest[std::min(rarest.size() - 1, static_cast<std::size_t>(draws[look] * static_cast<float>(rarest.size())))];
    const auto has = [&](const Picked& p) { return (labels[image * attributes_ + p.attribute] != 0) == p.on; };
    if (std::all_of(picked.begin(), picked.end(), has)) break;
  }
  return image;
}

MoveTarget MoveTargets::draw(const Tensor& y, const Tensor& labels, const Rng& rng, Share share) const {
  const torch::NoGradGuard no_grad;
  const auto rows = y.size(0), all = rows * share.size;
  const auto of_share = [&](std::uint64_t stream, std::int64_t columns) { return share_of(rng.fork(stream).uniform({all, columns}), share); };
  const auto side = labels.gt(0.5).to(torch::kFloat32);
  const auto weight = torch::where(side.gt(0.5), weights_[1], weights_[0]);
  // The largest of log w + Gumbel noise: a draw without replacement by weight.
  const auto keys = (weight.log() - (-of_share(kMoveKeys, attributes_).clamp(1e-7, 1 - 1e-7).log()).log()).contiguous();
  const auto counts = of_share(kMoveCounts, 1).contiguous();
  const auto noise = share_of(rng.fork(kMoveValues).randn({all, attributes_}), share);
  const auto count = sums_.select(1, 0), mean = torch::where(count.gt(0.5), sums_.select(1, 1) / count.clamp_min(1e-6), torch::zeros_like(count));
  const auto sd = (sums_.select(1, 2) / count.clamp_min(1e-6) - mean.square()).clamp_min(0).sqrt();
  const auto typical = torch::where(count.gt(0.5), mean, torch::tensor({-kMoveUnknown, kMoveUnknown}, torch::kFloat32).view({2, 1}).expand_as(mean));
  auto swapped = static_cast<std::int64_t>(std::lround(config_.swapped * static_cast<double>(rows)));
  if (swapped < 2) swapped = 0;
  MoveTarget out{.y = y.detach().clone(), .set = torch::zeros({rows, attributes_}), .on = torch::zeros({rows, attributes_}),
                 .like = torch::full({rows - swapped}, -1, torch::kInt64), .edited = rows - swapped};
  const auto looks = of_share(kMoveLike, kMoveLooks).contiguous();
  const auto plain_labels = side.contiguous();
  for (std::int64_t i = 0; i < out.edited; ++i) {
    const float u = counts.data_ptr<float>()[i];
    const auto wishes = u < 0.5F ? 1 : u < 0.8F ? 2 : 3;
    const auto picked = pick(keys.data_ptr<float>() + i * attributes_, plain_labels.data_ptr<float>() + i * attributes_, wishes);
    for (const auto& [a, on] : picked) {
      out.set[i][a] = 1;
      out.on[i][a] = on ? 1 : 0;
    }
    out.like[i] = alike(picked, looks.data_ptr<float>() + i * kMoveLooks);
  }
  const auto drawn = torch::where(out.on.gt(0.5), typical[1] + sd[1] * noise, typical[0] + sd[0] * noise);
  const auto least = kMoveLeast * torch::where(out.on.gt(0.5), typical[1], typical[0]);
  const auto values = torch::where(out.on.gt(0.5), torch::maximum(drawn, least), torch::minimum(drawn, least));
  out.y = torch::where(out.set.gt(0.5), values.to(y.dtype()), out.y);
  if (swapped > 0) out.y.narrow(0, out.edited, swapped).copy_(y.detach().narrow(0, out.edited, swapped).roll(1, 0));
  return out;
}

}  // namespace spnn
