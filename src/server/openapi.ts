/** The OpenAPI 3.1 document, made of the routes themselves. */
import type { Route } from './route.js'
import { SCHEMAS } from './schemas.js'

export function openApi(routes: readonly Route[], version: string): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, right, about } of routes) {
    const place = (paths[path] ??= {})
    place[method.toLowerCase()] = {
      ...about,
      description: `Needs ${right === 'any' ? 'a key' : `the right \`${right}\``}.`,
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'ibid',
      version,
      summary: 'Do it once; after that, ibid.',
      description: 'Claim a key, do the work, settle it. Every duplicate gets the first result.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ key: [] }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'ibid keys create makes one' } },
    },
  }
}
