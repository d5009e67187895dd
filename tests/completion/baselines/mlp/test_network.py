from __future__ import annotations

import numpy as np
import torch

from misfeat.completion.baselines.mlp.network import MLPNetwork
from misfeat.lattice import contains, level


def test_all_models_at_once_equal_models_one_by_one():
    network = MLPNetwork(3, 5, 1, 2, 8, seed=0)
    rows = torch.arange(15).expand(3, -1)
    bits = np.concatenate([contains(level(5, size), 5) for size in (1, 2)])
    assert network.inputs.numpy().astype(bool).tolist() == bits.tolist()
    together = network(rows)
    assert np.array_equal(network.predict(2), together[:, 5:].detach().double().numpy())
    for i in range(3):
        state = torch.relu(network.inputs @ network.first[i] + network.first_bias[i])
        state = torch.relu(state @ network.second[i] + network.second_bias[i])
        alone = (state @ network.head[i] + network.head_bias[i]).squeeze(1)
        torch.testing.assert_close(together[i], alone)
