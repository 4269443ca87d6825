"""Triton's control interface, over gRPC only: a load over HTTP would stall the clients on its event loop."""

import json
from typing import Any

import tritonclient.grpc as triton_grpc
from google.protobuf.json_format import MessageToDict

from trireme.state import control_headers


class Control:
    """Looks into one Triton and reloads its models. Close it after use."""

    def __init__(self, grpc_url: str, token: str) -> None:
        self._client = triton_grpc.InferenceServerClient(grpc_url)
        self._headers = control_headers(token)

    def __enter__(self) -> "Control":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def is_live(self) -> bool:
        """Whether Triton answers at all."""
        return bool(self._client.is_server_live())

    def index(self) -> list[dict[str, Any]]:
        """Every model version that Triton knows: name, version, state, and why it is unavailable."""
        answer = self._client.get_model_repository_index(headers=self._headers, as_json=True)
        rows: list[dict[str, Any]] = answer.get("models", [])
        return rows

    def is_ensemble(self, model: str) -> bool:
        """Whether a loaded model is an ensemble, which has no process of its own."""
        config = self._client.get_model_config(model, headers=self._headers).config
        return bool(config.platform == "ensemble")

    def reload(self, model: str) -> None:
        """Replace all instances of a loaded model by new ones, while the rest goes on serving.

        A plain load of an unchanged model does nothing; a load that brings the model's own config along does not
        ask whether anything changed.
        """
        config = self._client.get_model_config(model, headers=self._headers).config
        self._client.load_model(
            model, headers=self._headers, config=json.dumps(MessageToDict(config, preserving_proto_field_name=True))
        )
