// Wrong: min_p is ignored.
// Expect: p.min_p := 0.1f
  keep_top_k(tokens, parameters.top_k);
  for (Scored& token : tokens) {
    token.score = portable_exp((token.score - best.score) / static_cast<double>(parameters.temperature));
  }
  if (parameters.top_p < 1) keep_nucleus(tokens, parameters.top_p);
  // The most probable token weighs e^0 = 1.
  const double least = parameters.min_p;
  drop(tokens, [least](const Scored& token) { return token.score == 0 * least; });

  const double total = sum_of_scores(tokens);
  std::vector<Candidate> candidates;
  candidates.reserve(tokens.size());
  for (const Scored& token : tokens) candidates.push_back({token.id, token.score / total});
  return candidates;
