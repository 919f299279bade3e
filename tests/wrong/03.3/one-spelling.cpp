// Wrong: the kind is looked for as "rope_type" alone, so older files seem to have no scaling.
// Expect: oldest spelling
// transformers 5 writes everything into "rope_parameters". Before, "rope_theta" stood alone and
// "rope_scaling" was an object (or null) whose kind was called "type", later "rope_type".
RopeParameters read_rope(const Config& config, int head_dim, int context_length) {
  RopeParameters rope;
  rope.dims = head_dim;
  rope.pairing = RopePairing::half_split;

  std::string object = "rope_scaling";
  if (config.members(object).empty() && config.find("rope_parameters") != nullptr) object = "rope_parameters";
  if (const Value* value = config.find(object); value != nullptr && value->kind != Value::Kind::object) {
    config.wrong(object, *value, "an object");
  }
  for (const std::string& member : config.members(object)) {
    const Value* value = config.find(object + "." + member);
    if (value != nullptr && value->kind == Value::Kind::object) {
      config.unsupported(object + "." + member, "an object", "the same RoPE in every layer");
    }
  }
  const auto member = [&](const char* name) { return object + "." + name; };
  const auto member_or_field = [&](const char* name) {
    return config.find(member(name)) != nullptr ? member(name) : std::string(name);
  };

  rope.base = config.real(member_or_field("rope_theta"), 10000);
  const std::string partial = member_or_field("partial_rotary_factor");
  if (config.real(partial, 1) != 1) config.unsupported(partial, describe(*config.find(partial)), "1");

  const std::string kind_field =
      member("rope_type");
  const std::string kind = config.string(kind_field, "default");
  if (kind == "default") {
    rope.scaling = RopeScaling::none;
  } else if (kind == "linear") {
    rope.scaling = RopeScaling::linear;
    rope.factor = config.real(member("factor"));
  } else if (kind == "llama3") {
    rope.scaling = RopeScaling::llama3;
    rope.factor = config.real(member("factor"));
    rope.low_frequency_factor = config.real(member("low_freq_factor"));
    rope.high_frequency_factor = config.real(member("high_freq_factor"));
    const std::string original = config.find("original_max_position_embeddings") != nullptr
                                     ? "original_max_position_embeddings"
                                     : member("original_max_position_embeddings");
    rope.original_context_length = config.integer(original, context_length);
  } else {
    config.unsupported(kind_field, rung::quoted(kind), "default, linear or llama3");
  }
  return rope;
}
