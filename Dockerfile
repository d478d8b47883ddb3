# syntax=docker/dockerfile:1
# The ingester as a small image: one binary that needs no shell.
#
#   docker build -t idempost .
#   docker run --rm -v "$PWD/content:/site/content:ro" -v "$PWD/idempost.toml:/site/idempost.toml:ro" \
#     -e IDEMPOST_URI=mongodb://… idempost ingest

FROM rust:1.95-slim-trixie AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# The caches outlive a build, so that editing a source does not build the dependencies again.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked \
 && strip -o /usr/local/bin/idempost target/release/idempost

FROM debian:trixie-slim
RUN useradd --system --uid 10001 --home-dir /site --shell /usr/sbin/nologin idempost \
 && mkdir /site \
 && chown idempost:idempost /site
COPY --from=build /usr/local/bin/idempost /usr/local/bin/idempost
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/idempost/
USER 10001:10001
WORKDIR /site
# Certificate authorities and time zones are in the binary; nothing else is needed from the system.
ENTRYPOINT ["/usr/local/bin/idempost"]
CMD ["--help"]
