"""Label more text than one process can: shards of the input, labeled by workers on Ray.

run.py         a whole run: plan, workers, summary
job.py         where input and output are, and how to label
plan.py        which rows of which inputs make a shard; written once into the output folder
connection.py  starts Ray on this machine, or connects to a cluster
executor.py    runs workers on Ray
tasks.py       what a worker does next; finds the rows that kill their worker
worker.py      labels one shard and writes its output in one move
storage.py     the output folder, on a disk or in an object store
monitor.py     follows the run: counts, log and status file

It runs on Linux and macOS, which can lock files.
"""
