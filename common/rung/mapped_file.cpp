// open, fstat, mmap, and what can go wrong with each.
#include "rung/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "rung/error.h"

namespace rung {

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a named pipe would block here
  if (file < 0) fail(path, ": cannot open: ", std::strerror(errno));
  struct stat status;
  if (fstat(file, &status) != 0) {
    const int reason = errno;
    close(file);
    fail(path, ": cannot read its size: ", std::strerror(reason));
  }
  if (!S_ISREG(status.st_mode)) {
    close(file);
    fail(path, S_ISDIR(status.st_mode) ? ": is a directory, expected a file" : ": is not a regular file");
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) {
    void* memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    const int reason = errno;
    close(file);
    if (memory == MAP_FAILED) fail(path, ": cannot map ", size_, " bytes: ", std::strerror(reason));
    data_ = static_cast<const uint8_t*>(memory);
  } else {
    close(file);
  }
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace rung
