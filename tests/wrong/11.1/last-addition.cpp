// Wrong: the last layer's feed-forward output is never added to the stream.
// Expect: relative_error(last_logits(transformer, prompt.ids)
  embedding(device_, a.residual, weights_.token_embedding, a.ids);
  rms_norm(device_, a.normed, a.residual, weights_.layers[0].attention_norm, h.rms_epsilon);
  for (int layer = 0; layer < h.layers; ++layer) {
    const LayerWeights& weights = weights_.layers[layer];
    attention_block(device_, h, weights, inverse_frequency_, a);
    add_rms_norm(device_, a.normed, a.residual, a.block_output, weights.feed_forward_norm, h.rms_epsilon);
    feed_forward_block(device_, weights, a);
    if (layer + 1 < h.layers) {
      add_rms_norm(device_, a.normed, a.residual, a.block_output, weights_.layers[layer + 1].attention_norm,
                   h.rms_epsilon);
    }
  }
  lm_head(device_, h, weights_, a);
