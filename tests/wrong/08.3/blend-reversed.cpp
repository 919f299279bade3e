// Wrong: the blend gives long waves most of their frequency and short ones little.
// Expect: llama3-16-small; first difference at index 1
  const float context = static_cast<float>(rope.original_context_length);
  const float wavelength = static_cast<float>(2 * M_PI) / frequency;
  if (wavelength < context / rope.high_frequency_factor) return frequency;
  if (wavelength > context / rope.low_frequency_factor) return frequency / rope.factor;
  const float smooth = (context / wavelength - rope.low_frequency_factor) /
                       (rope.high_frequency_factor - rope.low_frequency_factor);
  return smooth * frequency / rope.factor + (1 - smooth) * frequency;
