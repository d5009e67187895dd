"""Attrition: who leaves, in offices that do not keep the same records.

The table of the MISFEAT paper may not be shipped, so this one is generated: four places of work,
each of which lacks something. Riga does not count overtime, Porto may not ask who is married, and
who works at home has no way to work.
"""

# %%
# `size="auto"` takes as many features as explain more than chance.
from made.attrition import staff

import misfeat
from misfeat import SubgroupSelector
from misfeat.answers.set_cells import explanation

table = staff()
selector = SubgroupSelector("office", size="auto", k=2, random_state=0).fit(table, "attrition")
print(selector.answer())

# %%
# What the best set of each size explains; further features add little.
misfeat.plot.size_curve(selector)

# %%
# Why is the best pair informative in Leeds? The share of those who left, cell by cell.
(best, *_) = selector.top_k(size=2, k=1, subgroup="Leeds")["features"]
for sentence in explanation(selector.selection_, "Leeds", best).sentences(k=2):
    print(sentence)
