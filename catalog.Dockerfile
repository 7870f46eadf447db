# The catalog's image: dist/catalog, and the cache that opm serves it from. Builder and server are the same opm, since the
# cache's format is the version's own.
ARG OPM_IMAGE=quay.io/operator-framework/opm:v1.61.0
FROM ${OPM_IMAGE} AS builder
COPY dist/catalog /configs
RUN ["/bin/opm", "validate", "/configs"]
RUN ["/bin/opm", "serve", "/configs", "--cache-dir=/tmp/cache", "--cache-only"]

FROM ${OPM_IMAGE}
LABEL operators.operatorframework.io.index.configs.v1=/configs
COPY --from=builder /configs /configs
COPY --from=builder /tmp/cache /tmp/cache
USER 1001
ENTRYPOINT ["/bin/opm"]
CMD ["serve", "/configs", "--cache-dir=/tmp/cache"]
