// Reads /proc and the cgroup's files. Sources: proc(5), and the kernel's
// Documentation/admin-guide/cgroup-v2.rst.
#include "rung/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace rung {

namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// The number behind `name` in a file of lines such as "MemAvailable:   123 kB"; fallback if there is none.
uint64_t number_behind(const std::string& path, const std::string& name, uint64_t fallback) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    uint64_t number = 0;
    if (words >> word && word == name && words >> number) return number;
  }
  return fallback;
}

// The number that a file holds; fallback if it holds none ("max") or is not there.
uint64_t only_number(const std::string& path, uint64_t fallback) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : fallback;
}

// What the cgroup of this folder still allows. Its pages of files can be dropped.
uint64_t available_in_cgroup(const std::string& folder) {
  const uint64_t limit = only_number(folder + "/memory.max", kUnlimited);
  if (limit == kUnlimited) return kUnlimited;
  const uint64_t used = only_number(folder + "/memory.current", 0);
  const uint64_t files = number_behind(folder + "/memory.stat", "inactive_file", 0) +
                         number_behind(folder + "/memory.stat", "active_file", 0);
  const uint64_t kept = used - std::min(used, files);
  return limit - std::min(limit, kept);
}

}  // namespace

uint64_t available_memory(const std::string& root) {
  uint64_t available = number_behind(root + "/proc/meminfo", "MemAvailable:", kUnlimited / 1024) * 1024;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.rfind("0::/", 0) != 0) continue;  // the line of version 2
    // The limits of all groups above hold too.
    for (std::string group = line.substr(3);; group.erase(group.find_last_of('/'))) {
      available = std::min(available, available_in_cgroup(root + "/sys/fs/cgroup" + group));
      if (group.empty()) break;
    }
  }
  return available;
}

uint64_t available_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const uint64_t used = only_number("/proc/self/statm", 0) *
                        static_cast<uint64_t>(sysconf(_SC_PAGESIZE));  // its first number: pages
  return limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, used);
}

uint64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace rung
