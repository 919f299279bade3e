// open, fstat, mmap, and what can go wrong with each; and the signal that comes instead of a page.
#include "rung/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "rung/error.h"
#include "rung/memory.h"

namespace rung {

// What the signal handler must know of a mapping. Ranges are used again but never freed, so that the handler
// can walk the list whatever the other threads do.
struct MappedRange {
  std::atomic<const uint8_t*> begin{nullptr};  // null: not in use
  std::atomic<size_t> size{0};
  std::atomic<const char*> message{nullptr};
  std::atomic<size_t> message_size{0};
  MappedRange* next = nullptr;
};

namespace {

std::atomic<MappedRange*> ranges{nullptr};
static_assert(std::atomic<MappedRange*>::is_always_lock_free,
              "a signal handler may only touch lock-free atomics");
struct sigaction before_sigbus;

// SIGBUS: a page of a mapping cannot be read. Only async-signal-safe calls.
extern "C" void on_sigbus(int, siginfo_t* info, void*) {
  const auto* address = static_cast<const uint8_t*>(info->si_addr);
  for (const MappedRange* range = ranges; range != nullptr; range = range->next) {
    const uint8_t* begin = range->begin;
    if (begin == nullptr || address < begin || address >= begin + range->size) continue;
    static std::atomic_flag said = ATOMIC_FLAG_INIT;
    while (said.test_and_set()) pause();  // another thread met it too and is ending the program
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, range->message, range->message_size);
    _exit(1);
  }
  sigaction(SIGBUS, &before_sigbus, nullptr);  // not ours: the access is repeated, and ends as it would have
}

// A range with this message, not in use yet.
MappedRange* take_range(const std::string& message) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const bool handled = [] {
    struct sigaction action {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, &before_sigbus) == 0;
  }();
  (void)handled;
  MappedRange* range = ranges;
  while (range != nullptr && range->message != nullptr) range = range->next;
  const bool is_new = range == nullptr;
  if (is_new) range = new MappedRange;
  range->message_size = message.size();
  range->message = message.data();
  if (is_new) {
    range->next = ranges;
    ranges = range;
  }
  return range;
}

}  // namespace

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
    if (memory == MAP_FAILED && available_address_space() < size_) {
      fail(path, ": cannot map ", size_, " bytes: ", available_address_space(),
           " bytes of address space are available (ulimit -v)");
    }
    if (memory == MAP_FAILED) fail(path, ": cannot map ", size_, " bytes: ", std::strerror(reason));
    data_ = static_cast<const uint8_t*>(memory);
    lost_ = (isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "") + std::string("rung: ") + escaped(path) +
            ": a part of it can no longer be read: was the file truncated, or does the disk fail?\n";
    range_ = take_range(lost_);
    range_->size = size_;
    range_->begin = data_;
  } else {
    close(file);
  }
}

MappedFile::~MappedFile() {
  if (range_ != nullptr) {
    range_->begin = nullptr;
    range_->message = nullptr;
  }
  if (data_ != nullptr) munmap(const_cast<uint8_t*>(data_), size_);
}

}  // namespace rung
