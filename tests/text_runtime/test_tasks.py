"""Every registered task, by what its pipeline answers."""

import numpy as np
import pytest

from text_runtime.tasks import Labels, Tensors, task

SENTIMENT = Labels(("negative", "positive"))


def nobody(tensors: Tensors) -> Tensors:
    """Stands where a task may encode again; classification never does."""
    raise AssertionError(tensors)


def test_text_classification_names_the_best_label_of_every_row_of_every_request() -> None:
    decode = task("text-classification").decoder(SENTIMENT, nobody)
    one = {"logits": np.array([[[3.0, 1.0]]], dtype=np.float32), "new_tokens": np.array([[2]])}
    two = {"logits": np.array([[[0.0, 0.0]], [[-1.0, 1.0]]], dtype=np.float32), "new_tokens": np.array([[2], [2]])}
    first, second = decode([one, two])
    assert first["label"].tolist() == [[b"negative"]]
    assert second["label"].tolist() == [[b"negative"], [b"positive"]]
    np.testing.assert_allclose(first["scores"], [[0.880797, 0.119203]], atol=1e-6)
    np.testing.assert_allclose(second["score"], [[0.5], [0.880797]], atol=1e-6)


def test_windows_that_a_row_lacks_do_not_count() -> None:
    nan = np.nan
    rows = np.array([[[1.0, 0.0], [nan, nan]], [[0.0, 4.0], [0.0, 4.0]]], dtype=np.float32)
    (answer,) = task("text-classification").decoder(SENTIMENT, nobody)(
        [{"logits": rows, "new_tokens": np.array([[5, 0], [3, 3]])}]
    )
    np.testing.assert_allclose(answer["scores"], [[0.731059, 0.268941], [0.017986, 0.982014]], atol=1e-6)


def test_a_label_list_with_one_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        Labels(("same", "same"))
