"""The web service: a JSON API over HTTP, and a page that shows propositions.

app.py            the routes
requests.py       reads the body of a request and checks it -> LabelRequest
batcher.py        collects requests that arrive together into batches, worked on by one thread
labeling.py       labels a batch of requests -> LabelResponse
limits.py         the largest request, the longest queue, the timeouts
observability.py  the log, the metrics, and the middleware that feeds both
openapi.py        descriptions, examples and schemas of /openapi.json
static/           the page
"""
