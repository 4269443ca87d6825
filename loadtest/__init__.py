"""Locust users that send real texts to a served pipeline over HTTP and gRPC and judge every answer.

A fast wrong answer is a failure like any other. What makes a task's answer right stands in the task's own module;
the users, the clock and the report know nothing of tasks. `python -m loadtest PIPELINE` runs without a
browser and fails on any failure; `locust -f loadtest/locustfile.py` is the same with Locust's own pages.
"""
