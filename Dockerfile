# The server of ibid, on the embedded store in /data. Two stages: what builds is not what runs.
FROM node:24-slim AS build
WORKDIR /ibid
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build.mjs && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=64 \
    IBID_HOST=0.0.0.0 \
    IBID_STORE=sqlite:///data/ibid.db
WORKDIR /ibid
COPY --from=build /ibid/package.json ./
COPY --from=build /ibid/node_modules ./node_modules
COPY --from=build /ibid/dist ./dist
RUN ln -s /ibid/dist/cli/main.js /usr/local/bin/ibid && chmod +x dist/cli/main.js \
  && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 7878 7880
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.IBID_PORT||7878)+'/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# SIGTERM is the graceful stop; give it longer than IBID_SHUTDOWN.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["serve"]
