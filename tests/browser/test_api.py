"""The endpoints for programs, through Gradio's own client."""

from __future__ import annotations

import json

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from tests.ui.fake_runs import FakeRuns

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("default")]


def test_a_program_gets_steps_traces_and_reasons(address: str, source: FakeRuns) -> None:
    source.num_steps = 12
    client = Client(address, verbose=False)
    trace = json.loads(client.predict("Hello there", api_name="/trace"))
    assert len(trace["steps"]) == 12
    job = client.submit("Hello there", api_name="/steps")
    job.result(timeout=30)
    steps = [json.loads(text) for text in job.outputs()]
    assert [step["proposed"] for step in steps] == [s["proposed"] for s in trace["steps"]]
    with pytest.raises(AppError, match="the prompt is empty"):
        client.predict("  ", api_name="/trace")
