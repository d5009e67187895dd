from __future__ import annotations

import torch

from misfeat.completion import InteractionsCompleter, Known
from misfeat.completion.multiplex.inputs import Inputs
from misfeat.completion.multiplex.network import MultiplexNetwork
from misfeat.lattice.neighbours import Levels


def test_weights_are_shared_so_that_the_order_of_cohorts_does_not_matter(known):
    torch.manual_seed(0)
    network = MultiplexNetwork(Levels(6, 1, 3), 1, layers=2, hidden=8, dropout=0.0).eval()
    for weight in network.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    order = [2, 0, 1]
    exact = known.exact
    turned = type(exact)(
        tuple(scores[order] for scores in exact.by_size), exact.missing[order], exact.ceiling[order]
    )
    plain, other = (
        network(Inputs.of(Known(e), 3, [InteractionsCompleter()], 0.1)) for e in (exact, turned)
    )
    torch.testing.assert_close(plain[:, order], other)
