# Exact tags; to hold the very bytes, add the digests that `docker buildx imagetools inspect` prints.
FROM node:24.19.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:24.19.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# The compiler is an optional peer of packages that have types, so npm installs it here as well.
RUN npm ci --omit=dev && rm -rf node_modules/typescript node_modules/@typescript node_modules/.bin

FROM node:24.19.0-bookworm-slim
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json ./
COPY scripts/build.mjs scripts/pack-page.mjs scripts/one-file.mjs ./scripts/
COPY server/kernel/docs ./server/kernel/docs
COPY docs ./docs
COPY --from=build /app/dist ./dist
RUN mkdir data && chown node:node data

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 OPS_PORT=3001 DATA_DIR=/app/data
USER node
VOLUME /app/data
EXPOSE 3000 1935

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Not through npm, so that node hears the signal to stop itself.
CMD ["node", "--max-semi-space-size=64", "dist/server/main.js"]
