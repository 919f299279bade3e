// Wrong: between the two ranges frequencies are divided as if they were long.
// Expect: llama3-16-small; first difference at index 1
  const float context = static_cast<float>(rope.original_context_length);
  const float wavelength = static_cast<float>(2 * M_PI) / frequency;
  return wavelength < context / rope.high_frequency_factor ? frequency : frequency / rope.factor;
