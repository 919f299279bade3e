// Safetensors as `inspect` shows them: lines for people, members of a JSON object for programs.
#include "commands/inspect_safetensors.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include "commands/json_text.h"
#include "model_file/tensor_names.h"
#include "rung/error.h"

namespace rung {

namespace {

std::string file_name(const SafetensorsFile& file) {
  return std::filesystem::path(file.path()).filename().string();
}

std::string shape_text(const SafetensorsEntry& entry) {
  return entry.dims <= Shape::kMaxDims ? entry.shape.text()
                                       : "(" + std::to_string(entry.dims) + " dimensions)";
}

uint64_t shown_tensors(const SafetensorsFolder& weights, uint64_t limit) {
  const uint64_t all = weights.tensors().size();
  return limit == 0 ? all : std::min(limit, all);
}

}  // namespace

void print_header(std::ostream& out, const SafetensorsFolder& weights) {
  out << "[header]\n"
      << "format: safetensors\n"
      << "files: " << weights.files().size() << "\n";
  for (const auto& file : weights.files()) {
    out << escaped(file_name(*file)) << ": header_size=" << file->data_offset() - 8
        << ", data_offset=" << file->data_offset() << ", file_bytes=" << file->file_bytes() << "\n";
  }
  uint64_t bytes = 0;
  for (const SafetensorsFolder::Item& item : weights.tensors()) bytes += item.entry->end - item.entry->begin;
  out << "tensor_count: " << weights.tensors().size() << "\n"
      << "tensor_bytes: " << bytes << "\n";
}

void print_metadata(std::ostream& out, const SafetensorsFolder& weights) {
  out << "[metadata]\n";
  for (const auto& file : weights.files()) {
    for (const auto& [key, value] : file->metadata()) {
      out << (weights.files().size() > 1 ? escaped(file_name(*file)) + ": " : "") << escaped(key) << ": "
          << escaped(value) << "\n";
    }
  }
}

void print_tensors(std::ostream& out, const SafetensorsFolder& weights, uint64_t limit) {
  out << "[tensors]\n";
  const uint64_t count = shown_tensors(weights, limit);
  for (uint64_t i = 0; i < count; ++i) {
    const SafetensorsFolder::Item& item = weights.tensors()[i];
    const std::string canonical = canonical_name(item.entry->name);
    out << escaped(item.entry->name) << " | canonical=" << (canonical.empty() ? "-" : canonical)
        << " | shape=" << shape_text(*item.entry) << " | dtype=" << item.entry->type->name
        << " | begin=" << item.entry->begin;
    if (weights.files().size() > 1) out << " | file=" << escaped(file_name(*item.file));
    out << "\n";
  }
  if (count < weights.tensors().size())
    out << "... (" << weights.tensors().size() - count << " more tensors)\n";
}

void print_files_json(std::ostream& out, const SafetensorsFolder& weights) {
  out << "\"files\": [";
  const char* separator = "";
  for (const auto& file : weights.files()) {
    out << separator << "{\"name\": " << json_string(file_name(*file))
        << ", \"bytes\": " << file->file_bytes() << ", \"data_offset\": " << file->data_offset()
        << ", \"metadata\": {";
    separator = "";
    for (const auto& [key, value] : file->metadata()) {
      out << separator << json_string(key) << ": " << json_string(value);
      separator = ", ";
    }
    out << "}}";
    separator = ", ";
  }
  out << "]";
}

void print_tensors_json(std::ostream& out, const SafetensorsFolder& weights, uint64_t limit) {
  out << "\"tensors\": [";
  const uint64_t count = shown_tensors(weights, limit);
  for (uint64_t i = 0; i < count; ++i) {
    const SafetensorsFolder::Item& item = weights.tensors()[i];
    const std::string canonical = canonical_name(item.entry->name);
    out << (i == 0 ? "" : ", ") << "{\"name\": " << json_string(item.entry->name)
        << ", \"canonical\": " << (canonical.empty() ? "null" : json_string(canonical))
        << ", \"shape\": " << (item.entry->dims <= Shape::kMaxDims ? item.entry->shape.text() : "null")
        << ", \"type\": " << json_string(item.entry->type->name) << ", \"begin\": " << item.entry->begin
        << ", \"bytes\": " << item.entry->end - item.entry->begin
        << ", \"file\": " << json_string(file_name(*item.file)) << "}";
  }
  out << "]";
}

Tensor read_tensor(const SafetensorsFolder& weights, const std::string& path, const std::string& name) {
  for (const SafetensorsFolder::Item& item : weights.tensors()) {
    if (item.entry->name == name || canonical_name(item.entry->name) == name)
      return item.file->read(*item.entry);
  }
  fail(path, ": there is no tensor ", rung::quoted(name), " (inspect --tensors lists the ",
       weights.tensors().size(), " that there are)");
}

}  // namespace rung
