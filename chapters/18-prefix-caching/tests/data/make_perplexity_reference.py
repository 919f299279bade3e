"""Prints what transformers' loss makes of a text in windows of 8 tokens, for test_sampling_command.cpp.

  python make_perplexity_reference.py TESTS/FIXTURES
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

folder = sys.argv[1]
prompt = next(p for p in json.load(open(f"{folder}/llama-untied.json"))["prompts"] if p["name"] == "text1")
model = AutoModelForCausalLM.from_pretrained(f"{folder}/llama-untied", dtype=torch.float32)
losses = []
for begin in range(0, len(prompt["ids"]), 8):
    window = torch.tensor([prompt["ids"][begin: begin + 8]])
    loss = model(input_ids=window, labels=window).loss.item()
    logits = model(input_ids=window).logits[0, :-1].double()
    each = torch.nn.functional.cross_entropy(logits, window[0, 1:], reduction="none")
    assert abs(each.mean().item() - loss) < 1e-5
    losses += each.tolist()
losses = torch.tensor(losses, dtype=torch.float64)
value = losses.mean().exp()
print(prompt["text"], len(losses), "scored; perplexity", value.item(), "standard error", (value * losses.std() / len(losses) ** 0.5).item())
