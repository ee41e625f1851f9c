# One image for every process of the Procfile. It holds no secret: all settings come from the environment.
FROM python:3.13-slim AS packages
RUN python -m venv /opt/trinity/venv
COPY requirements.txt requirements-model.txt /opt/trinity/
RUN /opt/trinity/venv/bin/pip install --no-cache-dir --require-hashes --no-deps \
    -r /opt/trinity/requirements.txt -r /opt/trinity/requirements-model.txt

FROM python:3.13-slim
# git: what a run committed is read from its agent's workspace.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --home-dir /var/lib/trinity --create-home trinity
COPY --from=packages /opt/trinity/venv /opt/trinity/venv
COPY . /opt/trinity/app
ENV PATH=/opt/trinity/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    TRINITY_HOME=/var/lib/trinity \
    HOST=0.0.0.0 \
    PORT=8000
WORKDIR /opt/trinity/app
RUN python -m compileall -q .
# Agents' commands run as this account, too: it may write in its home and nowhere else.
USER trinity
VOLUME /var/lib/trinity
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["python", "script/healthy.py"]
# `exec`: the server, not a shell, hears the TERM of a stop.
CMD ["sh", "-c", "exec daphne --bind \"$HOST\" --port \"$PORT\" --application-close-timeout 2 --websocket-max-message-size 65536 trinity.asgi:application"]
