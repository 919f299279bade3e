// Device memory as the rest of the runtime sees it.
#pragma once

#include <string>

namespace simt {

/// Where the poison of shared memory stands in device memory, or "".
std::string find_shared_poison();

/// While one lives, device memory may be touched; matters with RUNG_SIMT_CHECK=host only.
struct DeviceAccess {
  DeviceAccess();
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  DeviceAccess& operator=(const DeviceAccess&) = delete;
};

}  // namespace simt
