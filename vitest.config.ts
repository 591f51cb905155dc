import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Tests start and kill processes, and load native modules: threads would share too much.
    pool: 'forks',
    // Most files wait for processes, disks and servers: one at a time, which is the default for two cores, idles.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is waited for comes at once, or as late as a busy machine lets it.
    expect: { poll: { timeout: 20_000 } },
    // Real servers for the stores that need one are brought up here, once for the whole run.
    globalSetup: [],
    reporters: ['default', ['json', { outputFile: 'reports/vitest.json' }], './scripts/outside-errors.mjs'],
    coverage: {
      provider: 'v8',
      include: ['src/core/**', 'src/key/**'],
      reporter: ['text', 'json-summary'],
      reportOnFailure: true,
      thresholds: { 'src/core/**': { branches: 100 }, 'src/key/**': { branches: 100 } },
    },
  },
})
