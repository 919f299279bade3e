// Wrong: on CUDA token t goes to row t, wherever it is sent.
// Expect: store_kv: each token to its slot
// Region: 2
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= tokens * width) return;
  const int64_t slot = i / width;
  if (slot_mapping[slot] < 0) return;
  const int64_t to = slot * width + i % width;
  store_rounded((blockIdx.y == 0 ? keys : values)[to], (blockIdx.y == 0 ? k : v)[i]);
