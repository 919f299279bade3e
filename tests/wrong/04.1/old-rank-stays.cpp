// Wrong: the pair of the symbol that went away still counts.
// Expect: steps < 3 * letters
  const auto consider = [&](uint32_t place) {
    Symbol& symbol = symbols[place];
    symbol.rank = symbol.next == kNone ? kNone : rank_of(symbol.id, symbols[symbol.next].id);
    if (symbol.rank == kNone) return;
    heap.push_back({symbol.rank, place});
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (uint32_t place = 0; place < symbols.size(); ++place) consider(place);

  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const Candidate best = heap.back();
    heap.pop_back();
    ++taken;
    Symbol& left = symbols[best.place];
    if (left.rank != best.rank) continue;  // one of the two has been joined with somebody else since

    Symbol& right = symbols[left.next];
    left.id = merges_[best.rank].joined;
    left.next = right.next;
    if (left.next != kNone) symbols[left.next].previous = best.place;
    consider(best.place);
    if (left.previous != kNone) consider(left.previous);
  }
