// Finds a folder's weights and follows the index of a model in shards.
#include "model_file/safetensors_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "model_file/json_events.h"
#include "rung/error.h"

namespace rung {

namespace fs = std::filesystem;

namespace {

// Follows "weight_map": {"tensor name": "shard file", …} and opens each shard when it is first named, so that
// a broken index ends at its first mistake. Other members of the index, "metadata" above all, say nothing
// that is needed.
class IndexReader : public JsonEvents {
 public:
  IndexReader(const std::string& folder, const std::string& where,
              std::vector<std::unique_ptr<SafetensorsFile>>& files)
      : folder_(folder), where_(where), files_(files) {}

  // By file, whether the index names the tensor at this place of the header.
  const std::vector<std::vector<bool>>& named() const { return named_; }

  void begin(bool object) override {
    ++depth_;
    if (depth_ == 1 && !object) fail(where_, ": is an array, expected an object");
    if (in_map_ && depth_ == 2 && !object) fail(where_, ": weight_map is an array, expected an object");
    if (in_map_ && depth_ == 3) {
      fail(where_, ": weight_map: ", rung::quoted(name_), " is an ", object ? "object" : "array",
           ", expected a file name");
    }
  }

  void end(bool) override {
    if (depth_ == 1 && !seen_map_) fail(where_, ": has no weight_map");
    if (depth_ == 2) in_map_ = false;
    --depth_;
  }

  void key(std::string&& name) override {
    if (depth_ == 1) {
      in_map_ = name == "weight_map";
      if (in_map_ && seen_map_) fail(where_, ": weight_map occurs twice");
      seen_map_ = seen_map_ || in_map_;
    }
    if (in_map_) name_ = std::move(name);
  }

  void scalar(JsonScalar&& value) override {
    if (depth_ == 0) fail(where_, ": is ", describe(value), ", expected an object");
    if (!in_map_) return;
    if (depth_ == 1) fail(where_, ": weight_map is ", describe(value), ", expected an object");
    if (value.kind != JsonScalar::Kind::string) {
      fail(where_, ": weight_map: ", rung::quoted(name_), " is ", describe(value), ", expected a file name");
    }
    place(shard(value.text));
  }

 private:
  size_t shard(const std::string& name) {
    const auto known = shards_.find(name);
    if (known != shards_.end()) return known->second;
    if (name.empty() || name == "." || name == ".." || name.find_first_of("/\\") != name.npos ||
        name.find('\0') != name.npos) {
      fail(where_, ": weight_map: ", rung::quoted(name_), " is in ", rung::quoted(name),
           ", expected the name of a file in the same folder");
    }
    const std::string path = (fs::path(folder_) / name).string();
    std::error_code error;
    if (!fs::exists(path, error)) {
      fail(where_, ": weight_map: tensor ", rung::quoted(name_), " is in shard ", rung::quoted(name),
           ", which is missing from the folder");
    }
    files_.push_back(std::make_unique<SafetensorsFile>(path));
    named_.emplace_back(files_.back()->tensors().size());
    return shards_[name] = files_.size() - 1;
  }

  void place(size_t shard) {
    const SafetensorsFile& file = *files_[shard];
    const SafetensorsEntry* entry = file.find(name_);
    if (entry == nullptr) {
      fail(where_, ": weight_map: tensor ", rung::quoted(name_), " is missing from its shard ", file.path());
    }
    if (!names_.emplace(entry->name).second)
      fail(where_, ": weight_map: ", rung::quoted(name_), " occurs twice");
    named_[shard][static_cast<size_t>(entry - file.tensors().data())] = true;
  }

  const std::string& folder_;
  const std::string& where_;
  std::vector<std::unique_ptr<SafetensorsFile>>& files_;
  std::map<std::string, size_t> shards_;
  std::set<std::string_view> names_;  // of all shards, into their headers
  std::vector<std::vector<bool>> named_;
  int depth_ = 0;
  bool in_map_ = false, seen_map_ = false;
  std::string name_;
};

// The *.safetensors files of a folder, sorted.
std::vector<std::string> weight_files(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    if (i->path().extension() == ".safetensors") names.push_back(i->path().filename().string());
  }
  if (error) fail(folder, ": cannot list the folder: ", error.message());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

SafetensorsFolder::SafetensorsFolder(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    files_.push_back(std::make_unique<SafetensorsFile>(path));
  } else if (const fs::path whole = fs::path(path) / "model.safetensors"; fs::exists(whole, error)) {
    files_.push_back(std::make_unique<SafetensorsFile>(whole.string()));
  } else if (const fs::path index = fs::path(path) / "model.safetensors.index.json";
             fs::exists(index, error)) {
    open_index(path, index.string());
    return;
  } else {
    const std::vector<std::string> names = weight_files(path);
    if (names.empty()) fail(path, ": holds no *.safetensors file");
    if (names.size() > 1) {
      fail(path, ": holds ", names.size(), " *.safetensors files (", rung::quoted(names[0]), ", ",
           rung::quoted(names[1]), names.size() > 2 ? ", …" : "",
           ") but no model.safetensors.index.json that says what is in which");
    }
    files_.push_back(std::make_unique<SafetensorsFile>((fs::path(path) / names[0]).string()));
  }
  tensors_.reserve(files_[0]->tensors().size());
  for (const SafetensorsEntry& entry : files_[0]->tensors()) tensors_.push_back({files_[0].get(), &entry});
}

void SafetensorsFolder::open_index(const std::string& folder, const std::string& index) {
  const MappedFile file(index);
  IndexReader reader(folder, index, files_);
  read_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, index, 16, reader);
  // In the order of the shards' names, whatever the order of the index.
  std::map<std::string, size_t> order;
  for (size_t i = 0; i < files_.size(); ++i) order[files_[i]->path()] = i;
  std::vector<std::unique_ptr<SafetensorsFile>> sorted;
  for (const auto& [path, i] : order) {
    const std::vector<SafetensorsEntry>& entries = files_[i]->tensors();
    for (size_t j = 0; j < entries.size(); ++j) {
      if (reader.named()[i][j]) tensors_.push_back({files_[i].get(), &entries[j]});
    }
    sorted.push_back(std::move(files_[i]));
  }
  files_ = std::move(sorted);
}

}  // namespace rung
