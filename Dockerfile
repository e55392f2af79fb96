# `capsrl serve`, without torch. docs/deploy.md says how to build and run it.

FROM python:3.11.13-slim-bookworm AS build
RUN python -m venv --without-pip /opt/capsrl
WORKDIR /src
COPY . .
# The versions that capsrl is tested with, under the same version of Python; the variable is for what builds it.
ENV PIP_CONSTRAINT=/src/constraints.txt
RUN pip --python /opt/capsrl install --no-cache-dir --constraint constraints.txt ".[serve]"

FROM python:3.11.13-slim-bookworm
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
