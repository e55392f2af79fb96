"""Open, write, replace and fingerprint files: local, compressed and remote."""
