# ruff: noqa: ANN001, ANN201 - as it is copied from one example to the next
import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer


class TritonPythonModel:
    def initialize(self, args):
        self.tokenizer = Tokenizer.from_file("/models/seqcls_tokenizer/1/tokenizer.json")

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "INPUT_0").as_numpy()
            ids = [encoding.ids for encoding in self.tokenizer.encode_batch([text[0].decode() for text in texts])]
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT_0", np.array(ids))]))
        return responses
