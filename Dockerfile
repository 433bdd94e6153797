# Image of the service: Node, runtime packages, sources and the built console. No build tools, no tests. Does not run as root,
# and writes only to /data:
#   docker run --read-only --log-opt max-size=10m --log-opt max-file=5 --publish 127.0.0.1:8080:8080 --volume events:/data IMAGE
FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci --ignore-scripts
COPY scripts/build-web.ts ./scripts/
COPY web ./web
RUN node scripts/build-web.ts

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY --from=console /app/web/dist ./web/dist
RUN mkdir -m 0700 /data && chown 1000:1000 /data
# A number, so that Kubernetes can check that it is not root (runAsNonRoot). It is the image's user "node".
USER 1000:1000
VOLUME /data
EXPOSE 8080
# Healthy means that another node may be stopped. Reading 10 million events and their words takes ten minutes; the first success ends
# the start period.
HEALTHCHECK --interval=5s --timeout=3s --start-period=15m \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/local-events.mjs"]
CMD ["serve"]
