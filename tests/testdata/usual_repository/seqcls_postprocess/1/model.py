# ruff: noqa: ANN001, ANN201 - as it is copied from one example to the next
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            logits = pb_utils.get_input_tensor_by_name(request, "POST_INPUT").as_numpy()
            label = pb_utils.Tensor("POST_label", logits.argmax(axis=1)[:, None])
            responses.append(pb_utils.InferenceResponse([label]))
        return responses
