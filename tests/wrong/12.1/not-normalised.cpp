// Wrong: the weights are not divided by their sum.
// Expect: name := "pencil"
  keep_top_k(tokens, parameters.top_k);
  for (Scored& token : tokens) {
    token.score = portable_exp((token.score - best.score) / static_cast<double>(parameters.temperature));
  }
  if (parameters.top_p < 1) keep_nucleus(tokens, parameters.top_p);
  // The most probable token weighs e^0 = 1.
  const double least = parameters.min_p;
  drop(tokens, [least](const Scored& token) { return token.score < least || token.score == 0; });

  std::vector<Candidate> candidates;
  candidates.reserve(tokens.size());
  for (const Scored& token : tokens) candidates.push_back({token.id, token.score});
  return candidates;
