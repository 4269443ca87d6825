"""Every registered task, by what its pipeline answers."""

import numpy as np
import pytest

from text_runtime.tasks import Labels, task, task_names

SENTIMENT = Labels(("negative", "positive"))


def test_text_classification_names_the_best_label_of_every_row_of_every_request() -> None:
    decode = task("text-classification").decoder(SENTIMENT)
    one = {"logits": np.array([[[3.0, 1.0]]], dtype=np.float32)}
    two = {"logits": np.array([[[0.0, 0.0]], [[-1.0, 1.0]]], dtype=np.float32)}
    first, second = decode([one, two])
    assert first["label"].tolist() == [[b"negative"]]
    assert second["label"].tolist() == [[b"negative"], [b"positive"]]
    np.testing.assert_allclose(first["scores"], [[0.880797, 0.119203]], atol=1e-6)
    np.testing.assert_allclose(second["score"], [[0.5], [0.880797]], atol=1e-6)


def test_windows_that_a_row_lacks_do_not_count() -> None:
    nan = np.nan
    rows = np.array([[[1.0, 0.0], [nan, nan]], [[0.0, 4.0], [0.0, 4.0]]], dtype=np.float32)
    (answer,) = task("text-classification").decoder(SENTIMENT)([{"logits": rows}])
    np.testing.assert_allclose(answer["scores"], [[0.731059, 0.268941], [0.017986, 0.982014]], atol=1e-6)


@pytest.mark.parametrize("name", task_names())
def test_a_task_promises_outputs_that_its_decoder_gives(name: str) -> None:
    chosen = task(name)
    logits = np.zeros((3, 1, 2), dtype=np.float32)
    (answer,) = chosen.decoder(SENTIMENT)([{"logits": logits}])
    for promised in chosen.outputs(2):
        assert answer[promised.name].shape == (3, *promised.dims)


def test_a_label_list_with_one_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        Labels(("same", "same"))
