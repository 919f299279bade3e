// Wrong: the next layer's input is normed with this layer's weight.
// Expect: relative_error(last_logits(transformer, prompt.ids)
  embedding(device_, a.residual, weights_.token_embedding, a.ids);
  rms_norm(device_, a.normed, a.residual, weights_.layers[0].attention_norm, h.rms_epsilon);
  for (int layer = 0; layer < h.layers; ++layer) {
    const LayerWeights& weights = weights_.layers[layer];
    attention_block(device_, h, weights, inverse_frequency_, a);
    add_rms_norm(device_, a.normed, a.residual, a.block_output, weights.feed_forward_norm, h.rms_epsilon);
    feed_forward_block(device_, weights, a);
    if (layer + 1 < h.layers) {
      add_rms_norm(device_, a.normed, a.residual, a.block_output, weights.attention_norm,
                   h.rms_epsilon);
    } else {
      add(device_, a.residual, a.block_output);
    }
  }
  lm_head(device_, h, weights_, a);
