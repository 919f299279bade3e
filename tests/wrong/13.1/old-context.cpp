// Wrong: the new tokens do not see themselves.
// Expect: pass := 1
  Tensor new_keys = cache.keys(layer).slice(cache.length(), tokens);
  Tensor new_values = cache.values(layer).slice(cache.length(), tokens);
  convert(device, new_keys, a.k);
  convert(device, new_values, a.v);
  const int64_t context = std::max<int64_t>(cache.length(), tokens);
  attention(device, attended, q, cache.keys(layer).slice(0, context), cache.values(layer).slice(0, context));
