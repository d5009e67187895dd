"""Credit as it comes: 60 columns, most of them text, and four that inform about defaults.

These are written as "$16,818", "12.2%", "03/02/2019 14:05" and as the names of 150 cities.
misfeat is given nothing but the target and the column of subgroups. The table is generated.
"""

# %%
import warnings

from made.credit import DRIVERS, credit_table

import misfeat
from misfeat import SubgroupSelector

table = credit_table(5000)
print(table[["channel", *DRIVERS, "remarks", "defaulted"]].head(3).to_string(index=False))

# %%
# What is in doubt is warned of, and stands in `cautions` and in the notes, too.
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    selector = SubgroupSelector("channel", size=2, k=1).fit(table, "defaulted")
columns = {one.column: one for one in selector.cohorts_.columns}
out = [name for name, one in columns.items() if one.role == "left out"]
print(f"{len(columns)} columns, left out: {', '.join(out)}")
for name in DRIVERS:
    one = columns[name]
    print(f"{name}: {one.taken_for}, as in {one.example!r}; {one.treatment}")

# %%
# The columns that explain most by themselves, in every channel with enough rows, and the best pair.
for row in selector.subgroups_.itertuples():
    if row.rows >= 1000:
        alone = selector.features(row.subgroup).sort_values("alone", ascending=False)
        print(f"{row.subgroup}: {', '.join(alone['feature'].head(4))}")
print(selector.top_k()[["subgroup", "features", "share"]].round(3))
misfeat.plot.feature_map(selector)
