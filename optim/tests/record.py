"""Records trajectories of PyTorch's optimisers and schedules: `python record.py` writes recorded.npz beside this file."""

import pathlib
import warnings

import numpy as np
import torch
from torch import optim

warnings.filterwarnings("ignore")
torch.manual_seed(0)
STEPS = 20
arrays = {}

# The loss is a sum over rows of smooth functions of a matrix and a vector, so that all gradients change in each step.
X = torch.randn(6, 4, dtype=torch.float64)
Y = torch.randn(6, 3, dtype=torch.float64)
W = torch.randn(3, 4, dtype=torch.float64)
B = torch.randn(3, dtype=torch.float64)
arrays.update(x=X.numpy(), y=Y.numpy(), weight=W.numpy(), bias=B.numpy())


def params(dtype):
    return [W.to(dtype).clone().requires_grad_(), B.to(dtype).clone().requires_grad_()]


def loss_of(weight, bias):
    x, y = X.to(weight.dtype), Y.to(weight.dtype)
    return ((torch.tanh(x @ weight.T + bias) - y) ** 2).mean()


OPTIMIZERS = {
    "sgd": (optim.SGD, dict(lr=0.1)),
    "sgd_momentum": (optim.SGD, dict(lr=0.1, momentum=0.9)),
    "sgd_dampening": (optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01)),
    "sgd_nesterov": (optim.SGD, dict(lr=0.1, momentum=0.8, nesterov=True)),
    "sgd_maximize": (optim.SGD, dict(lr=0.1, momentum=0.5, maximize=True)),
    "adam": (optim.Adam, dict(lr=0.05)),
    "adam_betas": (optim.Adam, dict(lr=0.05, betas=(0.8, 0.95), eps=1e-4)),
    "adam_amsgrad": (optim.Adam, dict(lr=0.05, amsgrad=True, weight_decay=0.1)),
    "adam_decoupled": (optim.Adam, dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True, maximize=True)),
    "adamw": (optim.AdamW, dict(lr=0.05)),
    "adamw_amsgrad": (optim.AdamW, dict(lr=0.05, betas=(0.7, 0.9), eps=1e-3, weight_decay=0.2, amsgrad=True, maximize=True)),
    "adamax": (optim.Adamax, dict(lr=0.05)),
    "adamax_options": (optim.Adamax, dict(lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)),
    "nadam": (optim.NAdam, dict(lr=0.05)),
    "nadam_options": (optim.NAdam, dict(lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, momentum_decay=0.01, maximize=True)),
    "nadam_decoupled": (optim.NAdam, dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)),
    "radam": (optim.RAdam, dict(lr=0.05)),
    "radam_options": (optim.RAdam, dict(lr=0.05, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1, maximize=True)),
    "radam_decoupled": (optim.RAdam, dict(lr=0.05, weight_decay=0.1, decoupled_weight_decay=True)),
    "adagrad": (optim.Adagrad, dict(lr=0.1)),
    "adagrad_options": (optim.Adagrad, dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2, eps=1e-3, maximize=True)),
    "adadelta": (optim.Adadelta, dict()),
    "adadelta_options": (optim.Adadelta, dict(lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1, maximize=True)),
    "rmsprop": (optim.RMSprop, dict(lr=0.05)),
    "rmsprop_momentum": (optim.RMSprop, dict(lr=0.02, alpha=0.9, eps=1e-3, weight_decay=0.1, momentum=0.8)),
    "rmsprop_centered": (optim.RMSprop, dict(lr=0.02, centered=True, maximize=True)),
    "rmsprop_both": (optim.RMSprop, dict(lr=0.02, centered=True, momentum=0.7)),
    "rprop": (optim.Rprop, dict(lr=0.05)),
    "rprop_options": (optim.Rprop, dict(lr=0.05, etas=(0.4, 1.3), step_sizes=(1e-2, 0.2), maximize=True)),
}

for name, (kind, options) in OPTIMIZERS.items():
    for dtype in (torch.float64, torch.float32):
        weight, bias = params(dtype)
        # The fused forms of float32 round as ours do; in float64 the difference is below the tolerance.
        optimizer = kind([weight, bias], foreach=False, **options)
        track = []
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss_of(weight, bias).backward()
            optimizer.step()
            track.append(torch.cat([weight.detach().flatten(), bias.detach()]).double().numpy())
        arrays[f"{name}.{str(dtype)[6:]}"] = np.stack(track).astype(str(dtype)[6:])

# Lion is not in PyTorch: this is the algorithm of the publication.
for name, (lr, b1, b2, decay) in {"lion": (0.01, 0.9, 0.99, 0.0), "lion_options": (0.02, 0.8, 0.9, 0.1)}.items():
    tensors = params(torch.float64)
    means = [torch.zeros_like(t) for t in tensors]
    track = []
    for _ in range(STEPS):
        for t in tensors:
            t.grad = None
        loss_of(*tensors).backward()
        with torch.no_grad():
            for t, m in zip(tensors, means):
                t.mul_(1 - lr * decay)
                t.sub_(lr * (b1 * m + (1 - b1) * t.grad).sign())
                m.mul_(b2).add_(t.grad, alpha=1 - b2)
        track.append(torch.cat([t.detach().flatten() for t in tensors]).numpy())
    arrays[f"{name}.float64"] = np.stack(track)

# Without a penalty, the trajectories of L-BFGS are chaotic: PyTorch's own differ after a change of 1e-15.
for name, options in {
    "lbfgs": dict(lr=0.3, max_iter=4, history_size=3),
    "lbfgs_wolfe": dict(line_search_fn="strong_wolfe", max_iter=3),
    "lbfgs_zoom": dict(line_search_fn="strong_wolfe", lr=8, max_iter=3),
    "lbfgs_maximize": dict(lr=0.1, max_iter=3, maximize=True, max_eval=3),
}.items():
    for dtype in (torch.float64, torch.float32):
        weight, bias = params(dtype)
        optimizer = optim.LBFGS([weight, bias], **options)

        def closure():
            optimizer.zero_grad()
            loss = loss_of(weight, bias) + 0.1 * ((weight**2).sum() + (bias**2).sum())
            loss = -loss if options.get("maximize") else loss
            loss.backward()
            return loss

        track = []
        for _ in range(STEPS):
            optimizer.step(closure)
            track.append(torch.cat([weight.detach().flatten(), bias.detach()]).numpy())
        arrays[f"{name}.{str(dtype)[6:]}"] = np.stack(track)

# Two groups with different options.
weight, bias = params(torch.float64)
optimizer = optim.AdamW([dict(params=[weight], weight_decay=0.3), dict(params=[bias], lr=0.2, betas=(0.5, 0.6))], lr=0.05)
track = []
for _ in range(STEPS):
    optimizer.zero_grad()
    loss_of(weight, bias).backward()
    optimizer.step()
    track.append(torch.cat([weight.detach().flatten(), bias.detach()]).numpy())
arrays["groups.float64"] = np.stack(track)

# A complex parameter.
z0 = torch.randn(5, dtype=torch.complex128)
target = torch.randn(5, dtype=torch.complex128)
arrays.update(complex_start=torch.view_as_real(z0).numpy(), complex_target=torch.view_as_real(target).numpy())
for name, kind, options in [("complex_adam", optim.Adam, dict(lr=0.1)), ("complex_sgd", optim.SGD, dict(lr=0.1, momentum=0.9)), ("complex_rprop", optim.Rprop, dict(lr=0.1))]:
    z = z0.clone().requires_grad_()
    optimizer = kind([z], foreach=False, **options)
    track = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        ((z - target).abs() ** 2).sum().backward()
        optimizer.step()
        track.append(torch.view_as_real(z.detach()).numpy().copy())
    arrays[f"{name}.float64"] = np.stack(track)

# Schedules, on two groups.
S = optim.lr_scheduler


def two_groups(kind=optim.SGD, **options):
    return kind([dict(params=[torch.zeros(1, requires_grad=True)]), dict(params=[torch.zeros(1, requires_grad=True)], lr=0.03)], lr=0.5, **options)


SCHEDULES = {
    "step": lambda o: S.StepLR(o, 4, 0.3),
    "multi_step": lambda o: S.MultiStepLR(o, [3, 7, 7, 15], 0.5),
    "exponential": lambda o: S.ExponentialLR(o, 0.9),
    "cosine": lambda o: S.CosineAnnealingLR(o, 6, 0.01),
    "warm_restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 4, 2, 0.001),
    "warm_restarts_equal": lambda o: S.CosineAnnealingWarmRestarts(o, 5),
    "linear": lambda o: S.LinearLR(o, 0.25, 0.8, 9),
    "linear_default": lambda o: S.LinearLR(o),
    "polynomial": lambda o: S.PolynomialLR(o, 12, 2.5),
    "lambda": lambda o: S.LambdaLR(o, lambda epoch: 0.95**epoch),
    "lambda_groups": lambda o: S.LambdaLR(o, [lambda epoch: 1 / (epoch + 1), lambda epoch: 0.5**epoch]),
    "sequential": lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 5), S.StepLR(o, 3, 0.5), S.CosineAnnealingLR(o, 8)], [5, 14]),
}
for name, make in SCHEDULES.items():
    optimizer = two_groups()
    schedule = make(optimizer)
    track = [[g["lr"] for g in optimizer.param_groups]]
    for _ in range(26):
        optimizer.step()
        schedule.step()
        track.append([g["lr"] for g in optimizer.param_groups])
    arrays[f"schedule.{name}"] = np.array(track)

for name, kind, options, extra in [
    ("one_cycle", optim.SGD, dict(momentum=0.9), dict(max_lr=[0.5, 0.2], total_steps=26)),
    ("one_cycle_linear", optim.Adam, dict(), dict(max_lr=[0.5, 0.2], total_steps=26, anneal_strategy="linear", pct_start=0.4, div_factor=10.0, final_div_factor=100.0, base_momentum=0.7, max_momentum=0.9)),
    ("one_cycle_three", optim.AdamW, dict(), dict(max_lr=[0.5, 0.2], total_steps=26, three_phase=True)),
]:
    optimizer = two_groups(kind, **options)
    schedule = S.OneCycleLR(optimizer, **extra)
    momentum = lambda g: g["momentum"] if "momentum" in g else g["betas"][0]
    track = [[x for g in optimizer.param_groups for x in (g["lr"], momentum(g))]]
    for _ in range(25):
        optimizer.step()
        schedule.step()
        track.append([x for g in optimizer.param_groups for x in (g["lr"], momentum(g))])
    arrays[f"schedule.{name}"] = np.array(track)

metrics = [1.0, 0.9, 0.91, 0.9, 0.899999, 0.95, 0.8, 0.85, 0.86, 0.84, 0.87, 0.88, 0.7, 0.71, 0.72, 0.73, 0.74, 0.75, 0.76, 0.77, 0.5, 0.6, 0.6, 0.6, 0.6]
arrays["metrics"] = np.array(metrics)
for name, options in {
    "plateau": dict(patience=2),
    "plateau_abs": dict(patience=1, factor=0.5, threshold=0.05, threshold_mode="abs", cooldown=2, min_lr=0.02),
    "plateau_max": dict(mode="max", patience=3, factor=0.3),
    "plateau_max_abs": dict(mode="max", patience=0, factor=0.7, threshold_mode="abs"),
}.items():
    optimizer = two_groups()
    schedule = S.ReduceLROnPlateau(optimizer, **options)
    track = []
    for metric in metrics:
        schedule.step(metric)
        track.append([g["lr"] for g in optimizer.param_groups])
    arrays[f"schedule.{name}"] = np.array(track)

path = pathlib.Path(__file__).with_name("recorded.npz")
np.savez_compressed(path, **arrays)
print(path, path.stat().st_size, "bytes")
