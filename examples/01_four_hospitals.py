"""Four hospitals, one of which measured what the others did not.

Which features explain heart disease best in each of four hospitals, and would it pay the other
three to record the vessels that only Cleveland looked at? The table comes with the package.
"""

# %%
# A cholesterol of 0 stands for unknown here, which only people can know: it is said.
import misfeat
from misfeat import Coding, SubgroupSelector
from misfeat.answers.cautions import list_cautions
from misfeat.datasets import load_heart

heart = load_heart(readable=True)
selector = SubgroupSelector(
    groups="hospital", size=2, k=3, coding=Coding(missing_values={"cholesterol": [0]})
)
selector.fit(heart.columns, heart.target)
misfeat.plot.feature_map(selector)

# %%
# The three best pairs of every hospital. `predicted` says that the hospital never recorded one of
# the two, and that its score comes from the hospitals that did.
best = selector.top_k()[["subgroup", "features", "score", "low", "high", "source"]]
print(best.round(3).to_string(index=False))

# %%
# Read this before anything else: what may mislead here, the worst first.
for caution in list_cautions(selector.selection_)[:3]:
    print(f"- {caution.words}")

# %%
# What would be worth recording. A gain is `clear` only if it is as likely as `confidence` asks for.
worth = selector.worth_collecting()
shown = worth[["subgroup", "feature", "gain", "probability", "clear"]].head(8)
print(shown.round(3).to_string(index=False))
misfeat.plot.worth_collecting(selector, n=8)
