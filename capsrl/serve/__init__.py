"""The service: text over HTTP to propositions as JSON, and the page that shows them.

app.py        routes; a request that cannot be met is refused here
schemas.py    the body of a request -> Order, what to label and how
batcher.py    orders that come together are met together, in one thread
orders.py     some orders -> their answers, by the labeler
limits.py     how much of anything is too much
openapi.py    the description of the routes that /openapi.json gives
metrics.py    counters for Prometheus; logs.py: one JSON line per request, without its text
static/       the page
"""
