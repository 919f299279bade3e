// How much memory there is to take, asked before a large allocation rather than after, and how much was
// taken.
#pragma once

#include <cstdint>
#include <string>

namespace rung {

// Bytes of main memory that this process may still take: what /proc/meminfo says is available, or less where
// a cgroup (version 2; a container has one) sets a limit. Pages of files count as available, since the system
// can drop them. The largest number if nothing says. root: where /proc and /sys stand, for tests.
uint64_t available_memory(const std::string& root = "");

// Bytes of address space that `ulimit -v` still allows; the largest number where it sets no limit.
uint64_t available_address_space();

// The most bytes of main memory that this process has had at once, pages of mapped files that it has read
// included.
uint64_t peak_memory();

}  // namespace rung
