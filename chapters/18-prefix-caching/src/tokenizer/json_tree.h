// The parts of a JSON file that are wanted, as a tree, with accessors whose errors name the file and the
// place.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model_file/json_events.h"

namespace rung {

struct JsonNode {
  enum class Kind : uint8_t { scalar, array, object };
  Kind kind = Kind::scalar;
  JsonScalar scalar;
  std::vector<std::pair<std::string, JsonNode>> children;  // of an array with empty names
};

// Builds the tree of the members that `wanted` names of a file whose value is an object. Throws Error for
// duplicate names in one object and for more values than a file of this size sensibly holds there.
class JsonTreeBuilder : public JsonEvents {
 public:
  JsonTreeBuilder(std::string source, size_t file_bytes, std::vector<std::string_view> wanted);

  void begin(bool object) override;
  void end(bool object) override;
  void key(std::string&& name) override;
  void scalar(JsonScalar&& value) override;

  JsonNode root;

 private:
  JsonNode* add(JsonNode::Kind kind);

  std::string source_;
  std::vector<std::string_view> wanted_;
  std::vector<JsonNode*> open_;
  std::string key_;
  size_t nodes_ = 0, limit_;  // a node takes some 200 bytes while the tree grows
  int skipped_ = 0;           // depth inside a member that is not wanted
  bool skip_next_ = false;
};

// A place in such a tree, which may hold nothing. Accessors throw Error naming the file and the place.
class JsonPlace {
 public:
  JsonPlace(const std::string& source, const JsonNode& root) : source_(&source), node_(&root) {}

  JsonPlace operator[](
      std::string_view name) const;             // a member of an object; nothing if there is no such member
  JsonPlace operator[](size_t index) const;     // an element of an array; precondition: index < size()
  bool there() const;                           // is there a value other than null?
  size_t size() const;                          // of an array or object; 0 for nothing
  const std::string& name(size_t index) const;  // of a member
  bool is_array() const { return node_ != nullptr && node_->kind == JsonNode::Kind::array; }
  bool is_string() const;

  const std::string& text() const;                         // of a string
  std::string text_or(const std::string& fallback) const;  // fallback for nothing and null
  bool flag_or(bool fallback) const;
  int32_t id() const;  // an integer from 0 to 2^31 - 2

  // Throws Error: file, place, what stands there, then "expected" and the parts.
  [[noreturn]] void fail_expected(const std::string& expected) const;
  std::string where() const { return *source_ + ": " + (path_.empty() ? "the value" : path_); }

 private:
  JsonPlace(const std::string* source, const JsonNode* node, std::string path)
      : source_(source), node_(node), path_(std::move(path)) {}

  const std::string* source_;
  const JsonNode* node_;  // null: nothing
  std::string path_;
};

// Reads the wanted members of a JSON file. Throws Error if it cannot be read or is no valid JSON object.
JsonNode read_json_file(const std::string& path, std::vector<std::string_view> wanted);

}  // namespace rung
