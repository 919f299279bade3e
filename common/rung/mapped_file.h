// A whole file as read-only memory, mapped by the operating system: pages are read when they are first
// touched. If the file is truncated meanwhile, the program ends with one line that names it and status 1.
#pragma once

#include <cstdint>
#include <string>

#include "rung/span.h"

namespace rung {

class MappedFile {
 public:
  // Throws Error naming the path if it cannot be opened, is not a regular file, or cannot be mapped. An empty
  // file gives an empty view.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  Span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  std::string path_;
  std::string lost_;  // what to say when a page can no longer be read
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  struct MappedRange* range_ = nullptr;
};

}  // namespace rung
