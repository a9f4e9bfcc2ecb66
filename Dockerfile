# The service, built from source. Data (one SQLite file and its log) lives in /data: mount a volume there.
#   docker build -t rovo-a2a-connector .
#   docker run -p 8080:8080 -v connector-data:/data -e FORGE_APP_ID=… rovo-a2a-connector
# More in docs/operations.md.
FROM node:24-bookworm-slim AS build
WORKDIR /app
# better-sqlite3 brings a prebuilt binary for this image; the tools are for platforms without one.
RUN apt-get update && apt-get install -y --no-install-recommends python3 make g++ && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npx tsc -b src && npm prune --omit=dev

FROM node:24-bookworm-slim
# Inside a container nobody reaches loopback: listen on all addresses and let the container's network be the fence.
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATABASE_URL=sqlite:/data/connector.db
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Not through npm: signals have to reach the service itself.
CMD ["node", "--enable-source-maps", "--max-semi-space-size=32", "dist/src/main.js"]
