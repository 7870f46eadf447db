# Only copies the binary that "make build" made: any builder, with or without a registry, makes the same image.
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot
FROM ${BASE_IMAGE}
ARG TARGETOS
ARG TARGETARCH
COPY bin/${TARGETOS}/${TARGETARCH}/manager /manager
USER 65532:65532
ENTRYPOINT ["/manager"]
