// Joins a folder's weights and its config.json into one model.
#include "model_file/safetensors_model.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "model_file/config_json.h"
#include "model_file/tensor_names.h"
#include "rung/error.h"

namespace rung {

namespace fs = std::filesystem;

namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::string folder_of(const std::string& path) {
  if (is_folder(path)) return path;
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// One shard of an indexed model stands for the model; any other file stands for itself.
std::string weights_path(const std::string& path) {
  if (is_folder(path)) return path;
  const std::string folder = folder_of(path), file = fs::path(path).filename().string();
  std::error_code error;
  const bool shard = file.rfind("model-", 0) == 0 && file.find("-of-") != file.npos;
  return shard && fs::exists(fs::path(folder) / "model.safetensors.index.json", error) ? folder : path;
}

bool is_readable(const SafetensorsEntry& entry) {
  const std::string_view type = entry.type->name;
  return (type == "F32" || type == "F16" || type == "BF16") && entry.dims <= Shape::kMaxDims;
}

}  // namespace

SafetensorsModel::SafetensorsModel(const std::string& path)
    : path_(folder_of(path)), weights_(weights_path(path)) {
  const std::string config = (fs::path(path_) / "config.json").string();
  std::error_code error;
  if (!fs::exists(config, error)) {
    fail(config,
         ": is missing; safetensors files hold only weights, the model's shape stands in its config.json");
  }
  hyperparameters_ = read_config_json(config);
  hyperparameters_.model_name = fs::weakly_canonical(path_, error).filename().string();
  name_tensors();
  check_vocabulary(config);
}

void SafetensorsModel::name_tensors() {
  tensors_.reserve(weights_.tensors().size());
  for (const SafetensorsFolder::Item& item : weights_.tensors()) {
    std::string name = canonical_name(item.entry->name);
    if (name.empty()) name = item.entry->name;
    tensors_.push_back(
        {std::move(name), item, is_readable(*item.entry) ? item.file->read(*item.entry) : Tensor()});
  }
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), 0u);
  std::sort(by_name_.begin(), by_name_.end(),
            [this](uint32_t a, uint32_t b) { return tensors_[a].canonical < tensors_[b].canonical; });
  for (size_t i = 1; i < by_name_.size(); ++i) {
    const Named &a = tensors_[by_name_[i - 1]], &b = tensors_[by_name_[i]];
    if (a.canonical == b.canonical) {
      fail(path_, ": tensors ", rung::quoted(a.item.entry->name), " and ", rung::quoted(b.item.entry->name),
           " are both ", rung::quoted(a.canonical));
    }
  }
}

void SafetensorsModel::check_vocabulary(const std::string& config) const {
  const Shape expected{hyperparameters_.vocabulary, hyperparameters_.hidden};
  tensor("token_embd.weight", expected);
  if (hyperparameters_.tied_embeddings) return;
  if (find("output.weight") == nullptr) {
    fail(path_, ": tensor \"output.weight\" (lm_head.weight in the file) is missing, and ", config,
         " does not set \"tie_word_embeddings\", which would take token_embd.weight for it");
  }
  tensor("output.weight", expected);
}

std::vector<std::string> SafetensorsModel::tensor_names() const {
  std::vector<std::string> names;
  names.reserve(tensors_.size());
  for (const Named& named : tensors_) names.push_back(named.canonical);
  return names;
}

const Tensor* SafetensorsModel::find(std::string_view canonical_name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), canonical_name,
                       [this](uint32_t i, std::string_view key) { return tensors_[i].canonical < key; });
  if (found == by_name_.end() || tensors_[*found].canonical != canonical_name) return nullptr;
  const Named& named = tensors_[*found];
  if (!is_readable(*named.item.entry)) named.item.file->read(*named.item.entry);  // throws, saying why
  return &named.tensor;
}

std::string SafetensorsModel::stored_name(std::string_view canonical_name) const {
  const std::string name = hugging_face_name(canonical_name);
  return name.empty() ? std::string(canonical_name) : name;
}

}  // namespace rung
