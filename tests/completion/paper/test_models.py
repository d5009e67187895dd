from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from misfeat import MisfeatError
from misfeat.completion import Known, PaperCompleter
from misfeat.completion.paper.models import ModelShape, PaperModels
from tests.completion.coded import known_scores


def trained(**settings):
    completer = PaperCompleter(
        **{"epochs": 60, "hidden": 16, "device": "cpu", "random_state": 5, **settings}
    )
    completer.complete(Known(known_scores()), 3)
    return completer


def test_weights_survive_a_file(tmp_path):
    completer = trained()
    models, path = completer.models_[3], tmp_path / "models.safetensors"
    models.save(path)
    loaded = PaperModels.load(path)
    assert loaded.shape == models.shape
    assert np.array_equal(loaded.predict(3), models.predict(3))
    assert [p.name for p in tmp_path.iterdir()] == ["models.safetensors"]
    expected = {name: tuple(w.shape) for name, w in models.weights.items()}
    assert models.shape.weight_shapes() == expected


def test_damaged_or_foreign_files_are_refused(tmp_path):
    from safetensors.torch import save_file

    completer = trained(epochs=1)
    models, path = completer.models_[3], tmp_path / "models.safetensors"
    with pytest.raises(MisfeatError, match="There is no file"):
        PaperModels.load(path)
    models.save(path)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(MisfeatError, match="no complete safetensors file"):
        PaperModels.load(path)
    save_file(models.weights, path)
    with pytest.raises(MisfeatError, match="written by another program or a newer misfeat"):
        PaperModels.load(path)
    wrong = PaperModels(ModelShape(**{**asdict(models.shape), "hidden": 8}), models.weights)
    wrong.save(path)
    with pytest.raises(MisfeatError, match="its weights are not those of"):
        PaperModels.load(path)
    save_file(models.weights, path, metadata={"format": "misfeat paper models 1", "shape": "{"})
    with pytest.raises(MisfeatError, match="does not say its shape"):
        PaperModels.load(path)
    for change in ({"activation": "evil"}, {"low": -3}, {"high": 99}, {"hidden": 16.0}):
        wrong = PaperModels(ModelShape(**{**asdict(models.shape), **change}), models.weights)
        wrong.save(path)
        with pytest.raises(MisfeatError, match="does not say its shape"):
            PaperModels.load(path)
    nan = {**models.weights, "head": models.weights["head"] * float("nan")}
    PaperModels(models.shape, nan).save(path)
    with pytest.raises(MisfeatError, match="its weights are not those of"):
        PaperModels.load(path)
    with pytest.raises(MisfeatError, match="is a folder; give the name of a file in it"):
        models.save(tmp_path)
    with pytest.raises(MisfeatError, match="cannot be written"):
        models.save(path / "x.safetensors")
    with pytest.raises(MisfeatError, match="the models know sets of sizes 1 to 5"):
        models.predict(6)


def test_numpy_numbers_are_numbers(tmp_path):
    completer = trained(
        hidden=np.int64(4), dropout=np.float32(0.5), epochs=np.int32(2), sizes=np.array([2, 4])
    )
    completer.models_[3].save(tmp_path / "x")
    assert PaperModels.load(tmp_path / "x").shape.hidden == 4
