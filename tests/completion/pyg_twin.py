"""The paper's model in PyTorch Geometric with the weights of ours: the reference for parity."""

import torch
from torch.nn.functional import leaky_relu
from torch_geometric.nn import SAGEConv, to_hetero


class _Sage(torch.nn.Module):
    def __init__(self, n_features, hidden, layers):
        super().__init__()
        self.convs = torch.nn.ModuleList(
            SAGEConv(n_features if layer == 0 else hidden, hidden) for layer in range(layers)
        )
        self.head = torch.nn.Linear(hidden, 1)

    def forward(self, x, edge_index):
        for conv in self.convs:
            x = leaky_relu(conv(x, edge_index))
        return self.head(x).squeeze(-1)


def twin_of(network, model, data):
    """`to_hetero(SAGEConv)` on exported graph data, with the weights of one of our models."""
    names = data.node_types
    layers = len(network.inner) + 1
    hidden = network.head.shape[1]
    twin = to_hetero(_Sage(network.graph.n_features, hidden, layers), data.metadata()).double()
    with torch.no_grad():
        for target, source, conv, (self_weight, weight, bias) in _pairs(
            network, model, twin, names
        ):
            conv.lin_l.weight.copy_(weight.T)
            conv.lin_l.bias.copy_(bias if source == target else torch.zeros_like(bias))
            conv.lin_r.weight.copy_(self_weight.T if source == target else 0 * self_weight.T)
        head = twin.head[names[network.own[model]]]
        head.weight.copy_(network.head[model][None])
        head.bias.copy_(network.head_bias[model][None])
    return twin


def gradient_pairs(network, model, twin, names):
    """Pairs of gradients, the twin's and ours, that must agree."""
    for target, source, conv, (self_weight, weight, bias) in _pairs(
        network, model, twin, names, gradient=True
    ):
        yield conv.lin_l.weight.grad.T, weight
        if source == target:
            yield conv.lin_r.weight.grad.T, self_weight
            yield conv.lin_l.bias.grad, bias
    head = twin.head[names[network.own[model]]]
    yield head.weight.grad[0], network.head.grad[model]
    yield head.bias.grad[0], network.head_bias.grad[model]


def _pairs(network, model, twin, names, gradient=False):
    """Every convolution that the model's output depends on, with our weights for it."""

    def of(parameter):
        return parameter.grad[model] if gradient else parameter[model]

    own = network.own[model]
    for layer, convs in enumerate(twin.convs):
        last = layer == len(network.inner)
        for target in [own] if last else range(len(names)):
            for source in range(len(names)):
                kind = "in_lattice" if source == target else "across"
                conv = convs[f"{names[source]}__{kind}__{names[target]}"]
                if last:
                    other = of(network.last_others)[source - (source > own)] if source != own else 0
                    around = of(network.last_around) if source == own else other
                    weights = of(network.last_own), around, of(network.last_bias)[0]
                else:
                    part = network.inner[layer]
                    across = of(part.across)[source, target]
                    around = of(part.around)[target] if source == target else across
                    weights = of(part.across)[target, target], around, of(part.bias)[target]
                yield target, source, conv, weights
