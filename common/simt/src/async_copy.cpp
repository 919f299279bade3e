// Asynchronous copies of a block's threads; see simt/async_copy.h.
#include "simt/async_copy.h"

#include <cstdint>

#include "block.h"

namespace simt {

/// The running thread's copies.
ThreadCopies& Worker::copies() {
  if (copies_.size() < count_) copies_.resize(count_);
  return copies_[current_];
}

bool Worker::is_shared(const char* begin, std::size_t bytes) const {
  const auto holds = [&](const SharedVariable& v) {
    return v.storage != nullptr && begin >= v.storage && begin + bytes <= v.storage + v.bytes;
  };
  if (holds(dynamic_)) return true;
  for (const SharedVariable& variable : shared_)
    if (holds(variable)) return true;
  return false;
}

void Worker::begin_copy(const AsyncCopy& copy, const char* file, int line) {
  const RuntimeScope scope(*this);
  const auto wrong = [&](cudaError_t error, const char* what) {
    fail(error, text("__pipeline_memcpy_async of %zu bytes from %p to %p at %s:%d: %s", copy.bytes, copy.from,
                     copy.to, base_name(file), line, what));
  };
  if ((copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16) || copy.zeros > copy.bytes)
    wrong(cudaErrorLaunchFailure, "it copies 4, 8 or 16 bytes");
  const auto misaligned = [&](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % copy.bytes != 0;
  };
  if (misaligned(copy.from) || misaligned(copy.to))
    wrong(cudaErrorMisalignedAddress, "both addresses must be multiples of the size");
  if (!is_shared(static_cast<const char*>(copy.to), copy.bytes))
    wrong(cudaErrorIllegalAddress, "the destination is not in the block's shared memory");
  ThreadCopies& mine = copies();
  mine.waiting.push_back({copy, mine.commits});
}

void Worker::commit_copies() {
  const RuntimeScope scope(*this);
  ++copies().commits;
}

bool Worker::take_copy(std::size_t groups, AsyncCopy& copy) {
  const RuntimeScope scope(*this);
  ThreadCopies& mine = copies();
  if (mine.waiting.empty() || mine.waiting.front().group + groups >= mine.commits) return false;
  copy = mine.waiting.front().copy;
  mine.waiting.pop_front();
  return true;
}

void begin_async_copy(const AsyncCopy& copy, const char* file, int line) {
  required_worker("__pipeline_memcpy_async").begin_copy(copy, file, line);
}
void commit_async_copies() {
  required_worker("__pipeline_commit").commit_copies();
}
bool take_async_copy(std::size_t groups, AsyncCopy& copy) {
  return required_worker("__pipeline_wait_prior").take_copy(groups, copy);
}

}  // namespace simt
