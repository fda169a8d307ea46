"""Exports nine models with random weights: `export.py FOLDER [NAME..]` writes NAME.eval.pt2 and NAME.train.pt2 for each of them, and beside each program
a file NAME.*.safetensors with an input, and the output of eager PyTorch or the losses of three training steps, in float32 and in float64.

The forward pass takes one image of 3x224x224 or 128 tokens, in evaluation mode. The training step takes two images or 128 tokens, in training mode,
with all probabilities of dropout 0, so that every program computes the same.
"""

import sys
from pathlib import Path

import torch
import torchvision.models
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

TOKENS = 128
LEARNING_RATE = 0.01
RECORDED_STEPS = 3


class FirstOutput(torch.nn.Module):
    """A language model that returns its first output, the logits or the hidden state."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens, use_cache=False)[0]


def llama():
    config = LlamaConfig(
        vocab_size=8192,
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=4,
    )
    return FirstOutput(LlamaForCausalLM(config))


IMAGE_MODELS = {
    "resnet50": torchvision.models.resnet50,
    "vit_b_16": torchvision.models.vit_b_16,
    "mobilenet_v3_large": torchvision.models.mobilenet_v3_large,
    "efficientnet_b0": torchvision.models.efficientnet_b0,
    "convnext_tiny": torchvision.models.convnext_tiny,
    "swin_t": torchvision.models.swin_t,
}
LANGUAGE_MODELS = {
    "gpt2": lambda: FirstOutput(GPT2LMHeadModel(GPT2Config())),
    "llama": llama,
    "bert_base": lambda: FirstOutput(BertModel(BertConfig(), add_pooling_layer=False)),
}


def without_dropout(model):
    for module in model.modules():
        if isinstance(module, (torch.nn.Dropout, torchvision.ops.StochasticDepth)):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
    return model


def build(name):
    torch.manual_seed(0)
    model = without_dropout((IMAGE_MODELS | LANGUAGE_MODELS)[name]())
    if name == "vit_b_16":
        # Zeros at first, which would make all outputs and gradients zero.
        torch.nn.init.trunc_normal_(model.heads.head.weight, std=0.02)
    return model


def example_input(name, images):
    torch.manual_seed(1)
    if name in IMAGE_MODELS:
        return torch.randn(images, 3, 224, 224)
    return torch.randint(1000, (1, TOKENS))


def training_step(model, optimiser, example):
    loss = model(example).square().mean()
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    return loss.detach()


def sgd(model):
    return torch.optim.SGD(model.parameters(), LEARNING_RATE)


def results(name, mode, example, dtype):
    """Returns the output of eager PyTorch, or the losses of three training steps."""
    model = build(name).to(dtype)
    example = example.to(dtype) if example.is_floating_point() else example
    if mode == "eval":
        with torch.no_grad():
            return model.eval()(example).contiguous()
    optimiser = sgd(model.train())
    return torch.stack([training_step(model, optimiser, example) for _ in range(RECORDED_STEPS)])


def export(name, folder):
    for mode, images in ("eval", 1), ("train", 2):
        model, example = build(name).train(mode == "train"), example_input(name, images)
        path = folder / f"{name}.{mode}"
        torch.export.save(torch.export.export(model, (example,)), path.with_suffix(f".{mode}.pt2"))
        recorded = {"input": example, "results": results(name, mode, example, torch.float32)}
        recorded["exact_results"] = results(name, mode, example, torch.float64)
        save_file(recorded, path.with_suffix(f".{mode}.safetensors"))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or IMAGE_MODELS | LANGUAGE_MODELS:
        print(name, flush=True)
        export(name, folder)
