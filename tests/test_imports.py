"""Imports run one way. `make lint` checks the layers; here nothing may lead back to where it began.

Imports within functions count, those for type checkers do not. A selection shows itself: it imports
`show` in methods that do so, and nothing of it when it is fitted.
"""

import grimp
import networkx as nx
import pytest


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """Which module of the package imports which."""
    graph = grimp.build_graph("misfeat", cache_dir=None, exclude_type_checking_imports=True)
    edges = [
        (module, other)
        for module in graph.modules
        for other in graph.find_modules_directly_imported_by(module)
        if not (module == "misfeat.selection" and other.startswith("misfeat.show"))
    ]
    return nx.DiGraph(edges)


def test_no_module_leads_back_to_itself(imports):
    circles = [part for part in nx.strongly_connected_components(imports) if len(part) > 1]
    assert circles == []
