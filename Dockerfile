# Torg in a container: `docker build -t torg .`; deploy/compose.yaml starts it with all that it needs.
FROM rust:1.90-slim-trixie AS build
# The Kafka client is built from source, OpenSSL too.
RUN apt-get update \
    && apt-get install --no-install-recommends --yes g++ make perl \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /torg
COPY . .
RUN cargo build --profile dist --locked --package torg

FROM debian:trixie-slim
# curl asks for health; certificates are for feeds, photos and S3.
RUN apt-get update \
    && apt-get install --no-install-recommends --yes ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/torg --create-home --shell /usr/sbin/nologin torg
COPY --from=build /torg/target/dist/torg /usr/local/bin/torg
USER torg
WORKDIR /var/lib/torg
VOLUME /var/lib/torg
# Variables win over a torg.toml: what it says of these three does not count. Give the container others (--env), or the command its flags.
ENV TORG_LISTEN=0.0.0.0:8080 \
    TORG_DATA_DIR=/var/lib/torg \
    TORG_LOG_FORMAT=json
EXPOSE 8080
# While it starts, recovers its store or drains it is not ready; that it lives is another question (/healthz).
# With `[tls]` the port speaks HTTPS only; whose certificate it is does not matter here.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s \
    CMD curl --silent --fail http://127.0.0.1:8080/readyz || curl --silent --fail --insecure https://127.0.0.1:8080/readyz
# Torg refuses to serve other machines without access control: give TORG_ACCESS_MODE=required.
ENTRYPOINT ["torg"]
CMD ["serve"]
