"""Four hospitals, one of which measured what the others did not.

Which features explain heart disease best in each of four hospitals, and would it pay the other
three to record the vessels that only Cleveland looked at? The table comes with the package.
"""

# %%
# A cholesterol of 0 stands for unknown here, and what is half empty counts as not recorded: only
# people can know that. The numbers are those of `misfeat demo`.
import misfeat
from misfeat import Coding, SubgroupSelector
from misfeat.datasets import load_heart

heart = load_heart(readable=True)
coding = Coding(missing_values={"cholesterol": [0]}, missing_threshold=0.5)
selector = SubgroupSelector(groups="hospital", size=3, k=3, coding=coding)
selector.fit(heart.columns, heart.target)
misfeat.plot.feature_map(selector)

# %%
# What to use in every hospital, how sure that is, and how well a model would do.
answer = selector.answer()
print(answer)

# %%
# The three best sets of three features. `predicted` says that the hospital never recorded one of
# them, and that its score comes from the hospitals that did.
best = selector.top_k()[["subgroup", "features", "score", "low", "high", "source"]]
print(best.round(3).to_string(index=False))

# %%
# Read this before anything else: what may mislead here, the worst first.
for caution in answer.cautions:
    print(f"- {caution.words}")

# %%
# What to record, in this order; stop where it is not `worth` it.
plan = selector.plan()[["subgroup", "features", "gain", "probability", "worth"]]
print(plan.head(6).round(3).to_string(index=False))
misfeat.plot.worth_collecting(selector, n=8)
