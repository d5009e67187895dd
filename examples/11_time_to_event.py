"""Time to an event: three clinics, one of which never measured the best marker.

Patients are followed until a relapse, or for some time without one. The clinics differ in how long
they followed, and the third never measured `marker`.
"""

# %%
# The target is two columns: how long a patient was followed, and whether a relapse ended it.
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from misfeat import SubgroupSelector
from misfeat.answers.set_cells import event_free_curves, explanation

rng = np.random.default_rng(7)
patients = pd.DataFrame({"clinic": rng.choice(["Bern", "Graz", "Ulm"], 1800)})
patients["stage"] = rng.integers(1, 4, 1800)
patients["marker"] = rng.choice(["low", "high"], 1800)
patients["age"] = rng.integers(35, 80, 1800)
risk = 0.5 * patients["stage"] + 0.9 * (patients["marker"] == "high")
until = rng.exponential(8 / np.exp(risk - 1.5))
ended = rng.uniform(0, patients["clinic"].map({"Bern": 12, "Graz": 8, "Ulm": 6}))
patients["years"] = np.minimum(until, ended).round(2)
patients["relapse"] = (until <= ended).astype(int)
patients.loc[patients["clinic"] == "Ulm", "marker"] = None

selector = SubgroupSelector("clinic", size=2).fit(patients, ("years", "relapse"))
print(*selector.cohorts_.notes, sep="\n")
print(selector.answer())

# %%
# Who relapses when: rows that were censored count as long as they were followed.
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
of_set = explanation(selector.selection_, "clinic=Bern", ["stage", "marker"])
times, curves = event_free_curves(selector.selection_, of_set)
for curve in curves:
    axes.step(times, curve.shares, where="post", label=f"{curve.words} ({curve.rows} rows)")
axes.set(xlabel="years", ylabel="without relapse", ylim=(0, 1))
axes.legend(fontsize="small")
