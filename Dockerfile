# `capsrl serve`, without torch. docs/deploy.md says how to build and run it.

# By digest, so that every build starts from the same bytes; the tag is for readers. The digest is that of the image
# index in docker-library/repo-info, repos/python/remote/3.11.15-slim-bookworm.md, at commit 3effc3e.
ARG BASE=python:3.11.15-slim-bookworm@sha256:d29f48a31a8b408ed19272ca1e7b10ebae13b240a27e862d3d4217c528e2e0c3
FROM ${BASE} AS build
RUN python -m venv --without-pip /opt/capsrl
WORKDIR /src
COPY . .
# The versions that capsrl is tested with, under the same version of Python; the variable is for what builds it.
ENV PIP_CONSTRAINT=/src/constraints.txt
RUN pip --python /opt/capsrl install --no-cache-dir --constraint constraints.txt ".[serve]"

FROM ${BASE}
COPY --from=build /opt/capsrl /opt/capsrl
# One thread for numpy: the threads of the server follow the CPU quota of the container, or --threads.
ENV PATH="/opt/capsrl/bin:$PATH" OMP_NUM_THREADS=1
# The base image has no compiled standard library; the first command compiles what the server imports.
RUN capsrl serve --help > /dev/null \
    && useradd --no-create-home --shell /usr/sbin/nologin --uid 10001 capsrl
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
# As lists, so that the server gets SIGTERM, not a shell. Arguments of `docker run` are more options.
ENTRYPOINT ["capsrl", "serve", "--host", "0.0.0.0", "--port", "8000"]
