"""The answer for every subgroup: which features to use, how sure that is, and what to record.

Sentences, reports, pages of a notebook and JSON are all made from this one object. Whether anything
explains the target is decided by one test of all sets, adjusted for the number of subgroups; how
many features are enough, by tests of what further ones add.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import isnan, nan
from typing import Any

import numpy as np

from misfeat.answers.caution import Caution
from misfeat.answers.caution_checks import list_cautions
from misfeat.answers.nested_cross_validation import FoldChoice
from misfeat.answers.number_of_features import (
    LITTLE,
    Enough,
    Step,
    best_recorded,
    enough_features,
    step_of,
)
from misfeat.answers.performance import MEAN_AUC, UNOS_C, Performance, model_performance
from misfeat.answers.recording_plan import PlanStep, recording_plan
from misfeat.answers.selection_base import FitResult, checked_size, level_size, shown_scores
from misfeat.answers.subgroup_significance import (
    Effort,
    SubgroupSignificance,
    effort_for,
    significance_tests,
)
from misfeat.answers.top_sets import ScoredSet, best_sets
from misfeat.cohorts.cohort_data import Cohorts
from misfeat.cohorts.subgroup_lookup import subgroup_named
from misfeat.messages import Message, Setting
from misfeat.number_formatting import joined, p_words, percent, percent_between

EXPLAINED = "explained"
NO_EVIDENCE = "no evidence"
NOTHING = "nothing to explain"
UNTESTED = "not tested"
VERDICTS = (EXPLAINED, UNTESTED, NO_EVIDENCE, NOTHING)  # the most informative first
MOST_NAMED = 3  # subgroups or features that the sentence about all names
OFTEN = 0.5  # a feature in the answers of more than this share of the subgroups is named
MOST_STEPS = 5  # of a plan that have a sentence
MOST_MODELLED = 20  # subgroups for which models are fitted where nobody asks about a single one
NO_CLEAR_CASE = "No clear case: no unrecorded feature is likely enough to be worth recording."


@dataclass(frozen=True, eq=False)
class SubgroupAnswer:
    """What is recommended for one subgroup, and how sure that is.

    Attributes
    ----------
    subgroup : str
        Its name.
    rows : int
        Its rows.
    verdict : {"explained", "no evidence", "not tested", "nothing to explain"}
        Whether any set explains more than chance, by one test of all sets.
    features : tuple of str
        The recommended set: the smallest recorded one of at most `size` features beyond which there
        is no evidence that a further feature helps, or where it adds next to nothing.
    share, low, high : float
        What it explains, as a share of the uncertainty about the target, with its interval.
    p_value : float
        Of the test of all sets, adjusted for the number of subgroups; NaN where not tested.
    permutations : int
        Of that test: no p-value lies below one over one more.
    reason : str
        Why this many features, in words.
    best : ScoredSet or None
        The best set of exactly `size` features, recorded or not: the first line of `top_k`.
    models : tuple of Performance
        What a plain model reaches on rows left out: of the recommended set, of its best single
        feature, and of all recorded features. Empty where nothing is explained.
    recording : tuple of PlanStep
        What the subgroup should record, in this order, as `plan` says.
    """

    subgroup: str
    rows: int
    verdict: str
    features: tuple[str, ...]
    share: float
    low: float
    high: float
    p_value: float
    permutations: int
    reason: Message
    best: ScoredSet | None
    models: tuple[Performance, ...]
    recording: tuple[PlanStep, ...]
    words: Message  # the answer without the subgroup's name

    @property
    def sentence(self) -> Message:
        """The answer in one sentence."""
        return Message("{subgroup}: {words}.", subgroup=self.subgroup, words=self.words)

    @property
    def model_sentence(self) -> Message | None:
        """What a model reaches on rows left out, in one sentence; None where none was fitted."""
        words = self.model_words
        return words and Message("{subgroup}: {words}.", subgroup=self.subgroup, words=words)

    @property
    def model_words(self) -> Message | None:
        """The same without the subgroup's name and the full stop."""
        if not self.models:
            return None
        chosen, *others = self.models
        article = "a" if chosen.metric in (UNOS_C, MEAN_AUC) else "an"
        template = f"a model with {{names}} reaches {article} {chosen.metric} of {chosen.words} on "
        template += "rows left out"
        if chosen.looked:
            template += " of the fit, though not of the choice"
        if chosen.low <= (0.0 if "R²" in chosen.metric else 0.5):
            template += ", which chance may give"
        if not isnan(chosen.brier):
            template += f", and an integrated Brier score of {chosen.brier:.3f}"
        if not isnan(chosen.error):
            template += f", and an error of {chosen.error:.3g}"
        for other in others:
            single = len(other.features) == 1 < len(chosen.features)
            every = "both" if len(other.features) == 2 else f"all {len(other.features)}"
            named = "the best single feature" if single else f"{every} recorded features"
            template += f"; with {named} {other.words}"
            if other.value > chosen.high:
                doubt = "the others may have come by chance" if single else "larger sets may help"
                template += f", clearly more: {doubt}"
        return Message(template, names=joined(chosen.features))

    @property
    def sentences(self) -> list[Message]:
        """The answer, and what a model of it reaches."""
        return [one for one in (self.sentence, self.model_sentence) if one is not None]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


@dataclass(frozen=True, eq=False)
class Answer:
    """The answers for all subgroups, what holds over them, and what may mislead.

    Iterating gives a `SubgroupAnswer` for each subgroup; ``str()`` gives all sentences.
    """

    size: int
    effort: Effort
    enough: Mapping[str, Enough]  # by subgroup, where it was tested
    sentence: Message  # over all subgroups
    subgroups: tuple[SubgroupAnswer, ...]
    plan: tuple[PlanStep, ...]  # what to record, as `Selection.plan` says
    recording: tuple[Message, ...]  # the same in sentences
    cautions: tuple[Caution, ...]

    def __iter__(self) -> Iterator[SubgroupAnswer]:
        return iter(self.subgroups)

    def __len__(self) -> int:
        return len(self.subgroups)

    def __getitem__(self, subgroup: str) -> SubgroupAnswer:
        names = [one.subgroup for one in self.subgroups]
        return self.subgroups[names.index(subgroup_named(subgroup, names))]

    @property
    def overturning(self) -> list[Caution]:
        """The cautions that may overturn the answer."""
        return [one for one in self.cautions if one.severity == "overturns"]

    @property
    def other_cautions(self) -> list[Caution]:
        """The cautions that do not."""
        return [one for one in self.cautions if one.severity != "overturns"]

    @property
    def sentences(self) -> list[Message]:
        """What holds over all subgroups, the answer of each, and what is worth recording."""
        own = [sentence for one in self.subgroups for sentence in one.sentences]
        return [*([self.sentence] if len(self) > 1 else []), *own, *self.recording]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def answer_of(
    selection: FitResult,
    subgroup: str | None = None,
    size: int | None = None,
    costs: Mapping[str, Any] | None = None,
) -> Answer:
    """The answers for all subgroups, or for one of them (`Selection.answer`)."""
    size, cohorts = checked_size(selection, size), selection.cohorts
    effort = effort_for(selection, level_size(selection, size))
    names = selection.subgroup_names(subgroup)
    enough: dict[str, Enough] = {}
    tests: dict[str, SubgroupSignificance] = {}
    if effort.tested:
        tested = significance_tests(selection, effort.tested, permutations=effort.permutations)
        tests = {one.subgroup: one for one in tested.subgroups if one.sets}
        steps = enough_features(selection, subgroup, size, permutations=effort.step_permutations)
        enough = {one.subgroup: one for one in steps}
    plan = recording_plan(selection, subgroup, costs=costs, size=size)
    best = {one.subgroup: one for one in best_sets(selection, size, 1, subgroup)}
    recommendations = {
        name: _recommended(selection, size, name, enough.get(name), tests.get(name))
        for name in names
    }
    modelled = {
        name: one["features"]
        for name, one in recommendations.items()
        if len(names) <= MOST_MODELLED and one["verdict"] != NO_EVIDENCE and one["features"]
    }
    choice = FoldChoice(selection, {1, *map(len, modelled.values())})
    models = {name: _models(selection, name, own, choice) for name, own in modelled.items()}
    answers = [
        SubgroupAnswer(
            subgroup=name,
            rows=cohorts[name].size,
            best=best.get(name),
            models=models.get(name, ()),
            recording=tuple(one for one in plan if one.subgroup == name and one.worth),
            **recommendation,
        )
        for name, recommendation in recommendations.items()
    ]
    cautions = list_cautions(selection, size)
    if subgroup is not None:
        cautions = [one for one in cautions if not one.subgroups or names[0] in one.subgroups]
    wholes = dict(zip(cohorts.names, selection.set_scores.measure.whole.tolist(), strict=True))
    recording = [Message("Every subgroup recorded every feature: there is nothing to collect.")]
    if selection.missing.any():
        recording = recording_sentences(plan, wholes, cohorts.target, selection.confidence)
    return Answer(
        size=size,
        effort=effort,
        enough=enough,
        sentence=_with_weights(_over_all(answers, _about(selection)), cohorts, subgroup),
        subgroups=tuple(answers),
        plan=tuple(plan),
        recording=tuple(recording),
        cautions=tuple(cautions),
    )


def first_look(selection: FitResult) -> list[Message]:
    """The best recorded sets in words, before anything was tested."""
    sentences = []
    for name in selection.subgroup_names():
        words = _recommended(selection, selection.size, name, untested="")["words"]
        sentences.append(Message("{subgroup}: {words}.", subgroup=name, words=words))
    return sentences


def _recommended(
    selection: FitResult,
    size: int,
    name: str,
    enough: Enough | None = None,
    test: SubgroupSignificance | None = None,
    untested: str = "whether that is more than chance was not tested",
) -> dict[str, Any]:
    """The recommended set of a subgroup, as attributes of its answer."""
    measure, cohort = selection.set_scores.measure, selection.cohorts.position(name)
    about = _about(selection)
    nothing: dict[str, Any] = {"features": (), "share": nan, "low": nan, "high": nan}
    p = nan if test is None else test.adjusted
    nothing |= {"p_value": p, "permutations": 0 if test is None else test.permutations}
    nothing["reason"] = Message("")
    if not measure.whole[cohort] > 0:
        words = Message("{target} has a single value", target=selection.cohorts.target)
        return nothing | {"verdict": NOTHING, "words": words}
    least = max(1, len(selection.options.include))
    if enough is not None and enough.steps and test is not None:
        explained = test.more_than_chance
        verdict = EXPLAINED if explained else NO_EVIDENCE
        most = enough.size or (len(test.features) if explained else 1)
        step = enough.recommended(min(max(most, least), len(enough.steps)), least)
        reason = _why_so_many(enough, step, most, size)
    else:
        verdict = UNTESTED
        scores = shown_scores(selection, size)
        missing = measure.missing[cohort]
        if missing[scores.subsets].any(axis=1).all():
            words = Message(f"it recorded no set of {size} features that could be used")
            return nothing | {"verdict": UNTESTED, "words": words}
        step = step_of(measure, scores, cohort, best_recorded(selection, scores, cohort))
        reason = Message(untested)
    whole = float(measure.whole[cohort])
    share, low, high = step.share, step.low / whole, step.high / whole
    confidence, sure = selection.confidence, ""
    if low < high:
        kind = "bounds" if confidence is None else f"{100 * confidence:.0f} % interval"
        sure = f"{kind} {percent_between(low, high)}"
    named = {"names": joined(step.features), "about": about, "reason": reason}
    explain = "explains" if len(step.features) == 1 else "explain"
    said = "" if test is None else p_words(p, test.permutations, unadjusted=test.p_value)
    known = ", ".join(filter(None, [sure, said]))
    words = Message(
        f"{{names}} {explain} {percent(share, low, high)} of {{about}}"
        f"{f' ({known})' if known else ''}{'; {reason}' if reason else ''}",
        **named,
    )
    if verdict == NO_EVIDENCE:
        words = Message(
            f"no evidence that any feature explains {{target}} ({said}); {{names}} would explain "
            f"{percent(share, low, high)} of {{about}}{f' ({sure})' if sure else ''}",
            target=selection.cohorts.target,
            **named,
        )
    answer = {"verdict": verdict, "features": step.features, "reason": reason, "words": words}
    return nothing | answer | {"share": share, "low": low, "high": high}


def _why_so_many(enough: Enough, step: Step, most: int, size: int) -> Message:
    if step.size < most or (step.size == len(enough.steps) and enough.adds < LITTLE):
        return Message("a further feature adds less than 1 %")
    p = enough.further(step.size)
    if isnan(p):
        whole = step.size == enough.n_recorded
        return Message("no other feature was recorded" if whole else "")
    further = p_words(p, enough.permutations)
    if p > enough.level:
        return Message(f"no evidence that a further feature helps ({further})")
    if step.size < size:
        return Message(f"a further feature may help ({further})")
    return Message(
        f"a further feature would help ({further}): {{setting}} looks for it",
        setting=Setting("size", size + 1),
    )


def _about(selection: FitResult) -> Message:
    of = "the uncertainty about" if selection.set_scores.measure.name != "r2" else "the variance of"
    return Message(f"{of} {{target}}", target=selection.cohorts.target)


def _models(
    selection: FitResult, subgroup: str, features: tuple[str, ...], choice: FoldChoice
) -> tuple[Performance, ...]:
    """Models of a set, of the best single one of its features, and of all that were recorded."""
    chosen = model_performance(selection, subgroup, features, choice)
    if chosen is None:
        return ()
    others: list[Performance | None] = []
    if len(features) > 1:
        by_itself = [selection.score_of(subgroup, [name]) for name in features]
        best = features[int(np.argmax(by_itself))]
        others.append(model_performance(selection, subgroup, [best], choice))
    lacking = selection.missing[selection.cohorts.position(subgroup)]
    recorded = list(compress(selection.feature_names, ~lacking))
    if len(recorded) > len(features):
        others.append(model_performance(selection, subgroup, recorded, paired=features))
    return (chosen, *filter(None, others))


def _over_all(answers: Sequence[SubgroupAnswer], about: Message) -> Message:
    if len(answers) == 1:
        return answers[0].sentence
    explained = [one for one in answers if one.verdict in (EXPLAINED, UNTESTED) and one.features]
    if not explained:
        return Message(
            "In no subgroup is there evidence that any feature explains {target}.", **about.about
        )
    untested = all(one.verdict == UNTESTED for one in explained)
    some, every = len(explained), len(answers)
    where = f"{some:,} of {every:,}" if some < every else "both" if every == 2 else f"all {every:,}"
    tested = " (not tested against chance)" if untested else ""
    least, most = (of(explained, key=lambda one: one.share) for of in (min, max))
    low, high = (percent(one.share, one.low, one.high) for one in (least, most))
    how_much = Message(high)
    if low != high:
        ends = {"least": least.subgroup, "most": most.subgroup}
        how_much = Message(f"from {low} ({{least}}) to {high} ({{most}})", **ends)
    template = ""
    parts: dict[str, Any] = {"target": about.about["target"]}
    for verdict, words in (
        (NO_EVIDENCE, "there is no evidence that any feature explains it"),
        (NOTHING, "{target} has a single value"),
    ):
        own = [one.subgroup for one in answers if one.verdict == verdict]
        if own:
            field = f"part{len(parts)}"
            template += f" In {{{field}}} {words}."
            parts[field] = joined(own, most=MOST_NAMED)
    return Message(
        f"In {where} subgroups the recommended features explain {{how_much}} of {{about}}{tested}"
        "{features}.{others}",
        how_much=how_much,
        about=about,
        features=_common_features(explained),
        others=Message(template, **parts),
    )


def _common_features(explained: Sequence[SubgroupAnswer]) -> Message:
    counts = Counter(feature for one in explained for feature in one.features)
    often = [name for name, count in counts.most_common() if count > OFTEN * len(explained)]
    if not often or len(explained) == 1:
        return Message("")
    shown = often[:MOST_NAMED]
    where = "all" if {counts[name] for name in shown} == {len(explained)} else "most"
    are = "is" if len(shown) == 1 else "are"
    return Message(f"; {{names}} {are} recommended in {where} of these", names=joined(shown))


def _with_weights(sentence: Message, cohorts: Cohorts, subgroup: str | None) -> Message:
    """A sentence, and by what the rows of a subgroup, or of all, are weighted and worth."""
    words = {"weight": "weighted by {columns}", "design": "drawn by {columns}"}
    columns = {
        role: [audit.column for audit in cohorts.columns if audit.role == role] for role in words
    }
    if not columns["weight"] and cohorts.effective is None:
        return sentence
    asked = None if subgroup is None else cohorts.full_name(subgroup)
    own = [cohort for cohort in cohorts if asked in (None, cohort.name)]
    rows = sum(cohort.size for cohort in own)
    worth = f"{rows:,} rows in all"
    if cohorts.effective is not None:
        effective = round(sum(cohort.effective_size for cohort in own))
        worth = f"{rows:,} rows, which inform as much as {effective:,} drawn at random"
        worth += ", since the rarer class was drawn more often" if effective > rows else ""
    how = [Message(words[role], columns=joined(named)) for role, named in columns.items() if named]
    return Message(f"{{sentence}} Rows are {{said}}: {worth}.", sentence=sentence, said=joined(how))


def recording_sentences(
    steps: Sequence[PlanStep], wholes: Mapping[str, float], target: str, confidence: float | None
) -> list[Message]:
    """A sentence for every step of a plan that is worth it; else one that says there is none."""
    sentences: list[Message] = []
    reached: dict[str, float] = {}  # by subgroup, what is expected after the steps so far
    for step in steps:
        if step.worth:
            before = reached.get(step.subgroup, step.before)
            after = reached[step.subgroup] = before + step.gain
            low, high = min(step.after_low, after), max(step.after_high, after)
            shares = np.clip(np.array([before, after, low, high]) / wholes[step.subgroup], 0.0, 1.0)
            sentences.append(_step_in_words(step, shares.tolist(), target, confidence))
    if len(sentences) > MOST_STEPS:
        more = Message(f"{len(sentences) - MOST_STEPS:,} more steps are worth it: see the plan.")
        return [*sentences[:MOST_STEPS], more]
    if sentences:
        return sentences
    if not steps:
        return [Message(NO_CLEAR_CASE)]
    best = max(steps, key=lambda step: step.gain)
    gain = percent(best.gain / wholes[best.subgroup], 0.0, 1.0)
    nearest = f"{NO_CLEAR_CASE} Most would be gained by {{features}} in {{where}}: {gain} expected"
    if not isnan(best.probability):
        nearest += f", worth it with a probability of {percent(best.probability, 0.0, 1.0)}"
    return [Message(f"{nearest}.", features=joined(best.features), where=best.subgroup)]


def _step_in_words(
    step: PlanStep, shares: Sequence[float], target: str, confidence: float | None
) -> Message:
    before, after, low, high = shares
    sure = "bounds" if confidence is None else f"{100 * confidence:.0f} % interval"
    likely = ""
    if not isnan(step.probability):
        likely = f"; worth it with a probability of {percent(step.probability, 0.0, 1.0)}"
    one = len(step.features) == 1
    be = "are" if not one else "is"
    if step.probability < 0.8:
        be = "may be"
    return Message(
        f"{{subgroup}}: {{features}}{'' if one else ' together'} {be} worth recording. With "
        f"{'it' if one else 'them'}, the best set is expected to explain "
        f"{percent(after, low, high)} ({sure} {percent_between(low, high)}) of the uncertainty "
        f"about {{target}} instead of {percent(before, low, high)}{likely}.",
        subgroup=step.subgroup,
        features=joined(step.features),
        target=target,
    )


ANSWER_COLUMNS = (
    "subgroup", "rows", "verdict", "features", "share", "low", "high", "p_value", "permutations",
)  # fmt: skip
MODEL_COLUMNS = ("features", "metric", "value", "low", "high")


def answer_columns(answer: Answer) -> dict[str, list[Any]]:
    """A line a subgroup, as columns of a dataframe."""
    columns: dict[str, list[Any]] = {
        name: [getattr(one, name) for one in answer] for name in ANSWER_COLUMNS
    }
    for name, missing in (("metric", ""), ("value", nan), ("low", nan), ("high", nan)):
        key = name if name in ("metric", "value") else f"value_{name}"
        columns[key] = [getattr(one.models[0], name) if one.models else missing for one in answer]
    columns["reason"] = [str(one.reason) for one in answer]
    return columns


def most_informative(answers: Sequence[SubgroupAnswer], most: int) -> list[SubgroupAnswer]:
    """The subgroups in which most is explained, in the table's order."""
    best = sorted(answers, key=lambda one: 0.0 if isnan(one.share) else -one.share)
    kept = {id(one) for one in sorted(best, key=lambda one: VERDICTS.index(one.verdict))[:most]}
    return [one for one in answers if id(one) in kept]
