# The image of Dealwright (D168, docs/containers.md): Node.js, the libraries that it loads, and the release.
# No shell, no package manager; it needs one volume, /data, and a place for temporary files, /tmp.
#
#   docker build --tag dealwright .
#   docker buildx build --platform linux/amd64,linux/arm64 --tag dealwright .

# The index of Node.js 24.21.0, as in package-lock.json, for all platforms.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

# The release is the same for every platform, so it is made on the one that builds.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS release
WORKDIR /dealwright
COPY . .
RUN npm ci --no-audit --no-fund && npm run --silent package && mv dist/release/dealwright-[0-9]*.tgz /dealwright.tgz

# Node.js and its libraries are those of the platform of the image.
FROM ${NODE_IMAGE} AS root
COPY --from=release /dealwright.tgz /dealwright.tgz
COPY scripts/release/image.ts /
RUN ["node", "/image.ts", "--release", "/dealwright.tgz", "--to", "/image"]

FROM scratch
COPY --from=root /image /
ENV PATH=/usr/local/bin \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    NODE_COMPILE_CACHE=/tmp/dealwright-code
WORKDIR /data
VOLUME ["/data"]
EXPOSE 3000
# Any other user works, too.
USER 65532:65532
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=2m CMD ["node", "/app/bin/health.js"]
# Node.js is process 1: the service handles signals from its first moment on, and waits for its own children.
ENTRYPOINT ["node", "--v8-pool-size=1", "/app/bin/dealwright.js"]
CMD ["serve"]
