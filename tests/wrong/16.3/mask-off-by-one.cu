// Wrong: a query sees the key behind it.
// Expect: attention by tiles:
    float scores[kRows][4] = {};
    for (int piece = 0; piece < layout.pieces; ++piece) {
      Piece<Element> key[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) key[c] = rows[(x + 16 * c) * layout.pieces_stride + piece];
#pragma unroll
      for (int part = 0; part < kElements; part += 4) {
        Vector<float, 4> query[kRows];
        for (int r = 0; r < kRows; ++r)
          query[r] =
              load_vector<4>(queries + (first_row + r) * layout.query_stride + piece * kElements + part);
        for (int i = 0; i < 4; ++i) {
          for (int c = 0; c < 4; ++c) {
            const float element = to_float(key[c].elements[part + i]);
            for (int r = 0; r < kRows; ++r)
              scores[r][c] = __fmaf_rn(query[r].elements[i], element, scores[r][c]);
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < 4; ++c) {
        const bool visible = begin + x + 16 * c <= first_keys + first_row + r;
        weights[(first_row + r) * kWeightsStride + x + 16 * c] =
            visible ? __fmul_rn(scores[r][c], scale) : -INFINITY;
      }
    }
    __syncthreads();  // all scores are there, and nobody reads keys any more
    load_tile(rows, layout.pieces_stride, layout.pieces, v + kv_offset, sequences, sequence, begin, keys,
              shape.kv_stride(), head_dim, threadIdx.x, kThreads);
    __pipeline_commit();
    SoftmaxState tile_state;
    for (int i = 0; i < 8; ++i) {
      float* row = weights + (warp * 8 + i) * kWeightsStride;
      float first = row[lane], second = row[lane + kWarp];
      const SoftmaxState of_row = softmax_of_tile(first, second);
      row[lane] = first, row[lane + kWarp] = second;
      if (lane == i) tile_state = of_row;
    }
    if (lane < 8) factors[warp * 8 + lane] = merge_states(state, tile_state);
    __pipeline_wait_prior(0);
    __syncthreads();

    float sums[kRows][kColumns * 4] = {};
    const bool all_see_all = begin + kTileKeys <= first_keys;
    for (int first = 0; first < keys; first += 4) {
      Vector<float, 4> weight[kRows];
      for (int r = 0; r < kRows; ++r)
        weight[r] = load_vector<4>(weights + (first_row + r) * kWeightsStride + first);
      for (int key = first; key < first + 4; ++key) {
        const auto* value = reinterpret_cast<const Element*>(rows + key * layout.pieces_stride);
        for (int c = 0; c < kColumns; ++c) {
          if (64 * c + 4 * x >= layout.query_stride) continue;
          const auto columns = load_vector<4>(value + 64 * c + 4 * x);
          for (int i = 0; i < 4; ++i) {
            const float element = to_float(columns.elements[i]);
            for (int r = 0; r < kRows; ++r) {
              // 0 times an infinite value would not be 0: what a query does not see is left out.
              if (all_see_all || begin + key < first_keys + first_row + r) {
                sums[r][4 * c + i] = __fmaf_rn(weight[r].elements[key - first], element, sums[r][4 * c + i]);
              }
            }
          }
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns * 4; ++c)
        totals[r][c] = merge_values(totals[r][c], sums[r][c], factors[first_row + r]);
    }
