// Wrong: new keys and values are always written to the first rows.
// Expect: pass := 1
  Tensor new_keys = cache.keys(layer).slice(0, tokens);
  Tensor new_values = cache.values(layer).slice(0, tokens);
  convert(device, new_keys, a.k);
  convert(device, new_values, a.v);
  const int64_t context = cache.length() + tokens;
  attention(device, attended, q, cache.keys(layer).slice(0, context), cache.values(layer).slice(0, context));
