FROM node:24-bookworm-slim
WORKDIR /app

COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force
COPY . .
RUN npm run build && mkdir data && chown node:node data

ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 OPS_PORT=3001 DATA_DIR=/app/data
USER node
VOLUME /app/data
EXPOSE 3000

HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.OPS_PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# Not through npm, so that node hears the signal to stop itself.
CMD ["node", "dist/server/main.js"]
