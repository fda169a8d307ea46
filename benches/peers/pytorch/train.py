"""Training steps as PyTorch's users write them, equal to those in ../opdispatch/src/train.rs."""

import torch
from torch import nn
from torch.nn import functional

CLASSES = 10


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Identity()
        if inputs != outputs:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(self.second_norm(self.second(y)) + self.shortcut(x))


def mlp(*sizes):
    layers = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        ResidualBlock(16, 16, 1),
        ResidualBlock(16, 32, 2),
        ResidualBlock(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, CLASSES),
    )


def training_step(name):
    networks = {
        "train mlp64": (lambda: mlp(64, 128, CLASSES), (64, 64)),
        "train mlp784": (lambda: mlp(784, 1024, 1024, CLASSES), (256, 784)),
        "train resnet": (resnet, (32, 3, 32, 32)),
    }
    if name not in networks:
        return None
    create_network, sizes = networks[name]
    network, pictures = create_network(), torch.empty(sizes).uniform_(-2, 2)
    labels = torch.arange(sizes[0]) * 7 % CLASSES
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, foreach=True)

    def train_step():
        functional.cross_entropy(network(pictures), labels).backward()
        optimiser.step()
        optimiser.zero_grad()

    return train_step
