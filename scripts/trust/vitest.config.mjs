/** The tests as the rows run them: like the suite, but its report goes where the command line says. */
import { defineConfig } from 'vitest/config'
import suite from '../../vitest.config.ts'

const { reporters: _reporters, coverage: _coverage, ...test } = suite.test
export default defineConfig({ test })
