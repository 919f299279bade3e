// A small tree of JSON values, built from events.
#include "tokenizer/json_tree.h"

#include <algorithm>
#include <set>

#include "rung/error.h"
#include "rung/mapped_file.h"

namespace rung {

JsonTreeBuilder::JsonTreeBuilder(std::string source, size_t file_bytes, std::vector<std::string_view> wanted)
    : source_(std::move(source)), wanted_(std::move(wanted)), limit_(3500 + file_bytes / 32) {}

JsonNode* JsonTreeBuilder::add(JsonNode::Kind kind) {
  if (++nodes_ > limit_) fail(source_, ": holds more than ", limit_, " values besides vocabulary and merges");
  if (open_.empty()) {
    if (kind != JsonNode::Kind::object) fail(source_, ": expected a JSON object at the top");
    root.kind = kind;
    return &root;
  }
  JsonNode& parent = *open_.back();
  // Only the last child of each open node is open itself, so that growing the list moves none of them.
  parent.children.emplace_back(std::move(key_), JsonNode());
  key_.clear();
  parent.children.back().second.kind = kind;
  return &parent.children.back().second;
}

void JsonTreeBuilder::begin(bool object) {
  if (skip_next_ || skipped_ > 0) {
    skip_next_ = false;
    ++skipped_;
    return;
  }
  open_.push_back(add(object ? JsonNode::Kind::object : JsonNode::Kind::array));
}

void JsonTreeBuilder::end(bool object) {
  if (skipped_ > 0) {
    --skipped_;
    return;
  }
  if (object) {
    std::set<std::string_view> names;
    for (const auto& child : open_.back()->children) {
      if (!names.insert(child.first).second) {
        fail(source_, ": an object has two members named ", quoted(child.first), ", expected each name once");
      }
    }
  }
  open_.pop_back();
}

void JsonTreeBuilder::key(std::string&& name) {
  if (skipped_ > 0) return;
  skip_next_ = open_.size() == 1 && std::find(wanted_.begin(), wanted_.end(), name) == wanted_.end();
  key_ = std::move(name);
}

void JsonTreeBuilder::scalar(JsonScalar&& value) {
  if (skip_next_ || skipped_ > 0) {
    skip_next_ = false;
    return;
  }
  add(JsonNode::Kind::scalar)->scalar = std::move(value);
}

JsonPlace JsonPlace::operator[](std::string_view name) const {
  const std::string path = (path_.empty() ? "" : path_ + ".") + escaped(name);
  if (!there()) return {source_, nullptr, path};
  if (node_->kind != JsonNode::Kind::object) fail_expected("an object");
  for (const auto& child : node_->children) {
    if (child.first == name) return {source_, &child.second, path};
  }
  return {source_, nullptr, path};
}

JsonPlace JsonPlace::operator[](size_t index) const {
  return {source_, &node_->children[index].second, path_ + "[" + std::to_string(index) + "]"};
}

bool JsonPlace::there() const {
  return node_ != nullptr &&
         (node_->kind != JsonNode::Kind::scalar || node_->scalar.kind != JsonScalar::Kind::null);
}

size_t JsonPlace::size() const {
  if (!there()) return 0;
  if (node_->kind == JsonNode::Kind::scalar) fail_expected("an array or object");
  return node_->children.size();
}

const std::string& JsonPlace::name(size_t index) const {
  return node_->children[index].first;
}

bool JsonPlace::is_string() const {
  return node_ != nullptr && node_->kind == JsonNode::Kind::scalar &&
         node_->scalar.kind == JsonScalar::Kind::string;
}

const std::string& JsonPlace::text() const {
  if (!is_string()) fail_expected("a string");
  return node_->scalar.text;
}

std::string JsonPlace::text_or(const std::string& fallback) const {
  return there() ? text() : fallback;
}

bool JsonPlace::flag_or(bool fallback) const {
  if (!there()) return fallback;
  if (node_->kind != JsonNode::Kind::scalar || node_->scalar.kind != JsonScalar::Kind::boolean) {
    fail_expected("true or false");
  }
  return node_->scalar.boolean;
}

int32_t JsonPlace::id() const {
  const bool integer = node_ != nullptr && node_->kind == JsonNode::Kind::scalar &&
                       node_->scalar.kind == JsonScalar::Kind::integer;
  if (!integer || node_->scalar.negative || node_->scalar.magnitude >= INT32_MAX) {
    fail_expected("a token id from 0 to 2147483646");
  }
  return static_cast<int32_t>(node_->scalar.magnitude);
}

void JsonPlace::fail_expected(const std::string& expected) const {
  const std::string found = node_ == nullptr                        ? "missing"
                            : node_->kind == JsonNode::Kind::array  ? "an array"
                            : node_->kind == JsonNode::Kind::object ? "an object"
                                                                    : describe(node_->scalar);
  fail(where(), " is ", found, ", expected ", expected);
}

JsonNode read_json_file(const std::string& path, std::vector<std::string_view> wanted) {
  const MappedFile file(path);
  const Span<const uint8_t> bytes = file.bytes();
  JsonTreeBuilder builder(path, bytes.size(), std::move(wanted));
  read_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, 32, builder);
  return std::move(builder.root);
}

}  // namespace rung
