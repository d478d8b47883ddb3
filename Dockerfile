# The ingester as a small image: one binary, a folder of content, no shell needed to run it.
#
#   docker build -t idempost .
#   docker run --rm -v "$PWD/content:/site/content:ro" -v "$PWD/idempost.toml:/site/idempost.toml:ro" \
#     -e IDEMPOST_URI=mongodb://… idempost ingest

FROM rust:1.95-slim-trixie AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /build
# The dependencies are built from the manifest alone, so that editing a source does not build them again.
COPY Cargo.toml Cargo.lock README.md ./
RUN mkdir -p src \
 && echo 'fn main() {}' > src/main.rs \
 && : > src/lib.rs \
 && cargo build --release --locked \
 && rm -rf src target/release/.fingerprint/idempost-* target/release/deps/*idempost*
COPY src src
RUN cargo build --release --locked && strip target/release/idempost

FROM debian:trixie-slim
RUN useradd --system --uid 10001 --home-dir /site --shell /usr/sbin/nologin idempost \
 && mkdir -p /site /data \
 && chown idempost:idempost /site /data
COPY --from=build /build/target/release/idempost /usr/local/bin/idempost
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/idempost/
USER 10001:10001
WORKDIR /site
# Certificate authorities are in the binary; time zones too. Nothing else is needed from the system.
ENTRYPOINT ["/usr/local/bin/idempost"]
CMD ["--help"]
