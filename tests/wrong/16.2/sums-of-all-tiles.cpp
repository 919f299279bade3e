// Wrong: the sums of one tile begin with those of the tile before.
// Expect: attention by tiles:
    const HeadRows::Tile key_tile = key_rows.tile(begin, keys, decoded);
    dot_tiles(key_tile.rows, static_cast<size_t>(keys), key_tile.stride, rows.q, rows.count, rows.stride,
              head_dim, scores, kTileKeys);
    for (size_t r = 0; r < rows.count; ++r) {
      // A score of a key behind the query was computed along with the others; it is not looked at.
      tiles[r] = softmax_numerators(scores + r * kTileKeys, seen_by(r), rows.scale);
    }

    const HeadRows::Tile value_tile = value_rows.tile(begin, keys, decoded);
    if (seen_by(0) == seen_by(rows.count - 1)) {
      add_weighted_rows(sums.data(), head_dim, rows.count, scores, kTileKeys, value_tile.rows,
                        value_tile.stride, seen_by(0), head_dim);
    } else {
      for (size_t r = 0; r < rows.count; ++r) {
        add_weighted_rows(sums.data() + r * head_dim, head_dim, 1, scores + r * kTileKeys, kTileKeys,
                          value_tile.rows, value_tile.stride, seen_by(r), head_dim);
      }
    }
    for (size_t r = 0; r < rows.count; ++r) {
      const MergeFactors factors = merge(totals[r], tiles[r]);
      float* y = rows.y + r * rows.stride;
      const float* sum = sums.data() + r * head_dim;
      for (size_t d = 0; d < head_dim; ++d) y[d] = y[d] * factors.kept + sum[d] * factors.added;
    }
