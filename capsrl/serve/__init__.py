"""The web service: a JSON API over HTTP, and a page that shows propositions.

app.py            the routes, and the labeler behind them
requests.py       reads the body of a request within limits and checks it -> LabelRequest
batcher.py        collects requests that arrive together into batches, worked on by a few threads
labeling.py       labels a batch of requests and writes JSON, CSV or CoNLL-2009 -> LabelResponse
observability.py  the log, the metrics, and the middleware that feeds both
connections.py    the HTTP server: slow clients, and draining
openapi.py        models and examples of /openapi.json
page.py, static/  the page, and /docs
"""
