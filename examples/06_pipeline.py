"""Inside a Pipeline: features chosen by subgroup, and a model on them.

`SubgroupSelector` is a scikit-learn transformer: `transform` keeps the columns of the best sets of
all subgroups. Its parameters, those of `Coding` included, can be searched over like any other.
"""

# %%
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from misfeat import SubgroupSelector
from misfeat.datasets import heart_csv

table = pd.read_csv(heart_csv())
y = table.pop("num") > 0
selector = SubgroupSelector("site", size=2, k=1)
model = make_pipeline(selector, RandomForestClassifier(50, min_samples_leaf=5, random_state=0))
model.fit(table, y)
print("kept:", ", ".join(model[:-1].get_feature_names_out()), f"of {table.shape[1]} columns")

# %%
# A new selection is made in every fold, so that no row that is judged has helped to choose.
# Three columns do not do as well as all thirteen: choose features where they cost something.
folds = StratifiedKFold(3, shuffle=True, random_state=0)
alone = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
numbers = table.drop(columns="site")
for name, one, X in [("chosen features", model, table), ("all features", alone, numbers)]:
    scores = cross_val_score(one, X, y, cv=folds, scoring="roc_auc")
    print(f"{name}: AUC {scores.mean():.3f}")

# %%
# How many bins? Nested parameters are reached by name.
grid = {"subgroupselector__coding__bins": [3, 5]}
search = GridSearchCV(model, grid, cv=folds, scoring="roc_auc").fit(table, y)
for chosen, score in zip(
    grid["subgroupselector__coding__bins"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"{chosen} bins: AUC {score:.3f}")
