// Counts allocations with the sanitizer's hooks, and checks what the targets assert.
#include "fuzz.h"

#include <sanitizer/allocator_interface.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "rung/utf8.h"

namespace rung::fuzz {

namespace {

namespace fs = std::filesystem;

std::atomic<bool> counting{false};
std::atomic<int64_t> live{0}, peak{0};

// libFuzzer calls the targets from one thread, and the parsers start none.
void on_allocate(const volatile void*, size_t bytes) {
  if (!counting) return;
  live += static_cast<int64_t>(bytes);
  if (live > peak) peak = live.load();
}

void on_free(const volatile void* memory) {
  if (!counting || memory == nullptr) return;
  live -= static_cast<int64_t>(__sanitizer_get_allocated_size(const_cast<const void*>(memory)));
}

struct Folder {
  std::string path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "rung-fuzz-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr, "a temporary folder");
    path = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
};

}  // namespace

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: this does not hold: %s\n", what);
  std::abort();
}

const std::string& folder() {
  static const Folder folder;
  return folder.path;
}

std::string write_file(const std::string& name, std::string_view bytes) {
  const std::string path = folder() + "/" + name;
  fs::remove(path);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  require(bool(file), "the input is written to a file");
  return path;
}

std::string link_fixture(const std::string& fixture, const std::string& name) {
  const char* fixtures = std::getenv("RUNG_FIXTURES");
  require(fixtures != nullptr, "RUNG_FIXTURES is set; run this with tools/fuzz");
  const std::string path = folder() + "/" + name;
  fs::remove(path);
  fs::create_symlink(std::string(fixtures) + "/" + fixture, path);
  return path;
}

MemoryBound::MemoryBound(size_t file_bytes) : limit_(8 * file_bytes + (size_t{1} << 20)) {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(on_allocate, on_free);
  require(installed > 0, "the sanitizer takes allocation hooks");
  live = peak = 0;
  counting = true;
}

MemoryBound::~MemoryBound() {
  counting = false;
  if (static_cast<size_t>(peak.load()) <= limit_) return;
  std::fprintf(stderr, "fuzz: %lld bytes were allocated at once, %zu are allowed\n",
               static_cast<long long>(peak.load()), limit_);
  std::abort();
}

void check_error(std::string_view line) {
  require(!line.empty() && line.size() <= 1000, "an error is a line of at most 1,000 bytes");
  require(utf8_valid_prefix(line) == line.size(), "an error is valid UTF-8");
  for (const char c : line)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "an error holds no control character");
}

void check_json(const std::string& json) {
  require(nlohmann::json::accept(json), "the JSON written is valid");
}

}  // namespace rung::fuzz
