// Wrong: gate and up read the residual stream instead of the normed rows.
// Expect: token 0 shows
    add_rms_norm(device, normed, residual, state.get("attention_output"),
                 state.expanded(device, "blk.0.ffn_norm.weight", {h.hidden}), h.rms_epsilon);
    state.show(device, "residual", residual, "attention's output added");
    state.show(device, "normed", normed, "normalized with blk.0.ffn_norm.weight");

    matmul(device, gate, residual, state.matrix(device, "blk.0.ffn_gate.weight", {h.feed_forward, h.hidden}));
    matmul(device, up, residual, state.matrix(device, "blk.0.ffn_up.weight", {h.feed_forward, h.hidden}));
    state.show(device, "gate", gate);
    state.show(device, "up", up);
    swiglu(device, gate, gate, up);
    state.show(device, "gated", gate, "silu(gate) * up");

    matmul(device, output, gate, state.matrix(device, "blk.0.ffn_down.weight", {h.hidden, h.feed_forward}));
    state.show(device, "feed_forward_output", output);
    add(device, residual, output);
    state.set("feed_forward_output", output);
    state.show(device, "residual", residual, "added: what layer 1 will read");
