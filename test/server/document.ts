/**
 * The OpenAPI document of a running server, as a judge: which operations there are, and is this answer one of
 * theirs?
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { Caller } from './bench.js'

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: object }>> }
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: object }>> }>
  >
}

export interface Listed {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly operation: Operation
}

export interface Document {
  readonly openapi: string
  readonly operations: readonly Listed[]
  /** Fails the test unless this status and body are documented for it. */
  judge(
    method: string,
    path: string,
    answer: { readonly status: number; readonly headers: Headers; readonly body: unknown },
  ): void
  judgeRequest(method: string, path: string, body: unknown): boolean
}

export async function readDocument(call: Caller): Promise<Document> {
  const { body } = await call<{
    openapi: string
    paths: Record<string, Record<string, Operation>>
    components: object
  }>('/v1/openapi.json')
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema({ $id: 'doc', components: body.components })
  const validate = (schema: object, value: unknown): string | undefined => {
    const inDocument = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as object
    const check = ajv.compile(inDocument)
    return check(value) ? undefined : ajv.errorsText(check.errors)
  }
  const operations = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase() as 'GET',
      path,
      operation,
    })),
  )
  function find(method: string, path: string): Operation {
    const found = operations.find((one) => one.method === method && one.path === path)
    expect(found, `${method} ${path} is documented`).toBeDefined()
    return (found as Listed).operation
  }
  return {
    openapi: body.openapi,
    operations,
    judge(method, path, { status, headers, body: sent }) {
      const documented = find(method, path).responses[status]
      expect(documented, `${method} ${path} documents ${status}: ${JSON.stringify(sent)}`).toBeDefined()
      const type = headers.get('content-type')?.split(';')[0] ?? ''
      const schema = documented?.content[type]?.schema
      expect(schema, `${method} ${path} ${status} documents ${type}`).toBeDefined()
      expect(
        validate(schema as object, sent),
        `${method} ${path} ${status} ${JSON.stringify(sent)}`,
      ).toBeUndefined()
    },
    judgeRequest(method, path, sent) {
      const schema = find(method, path).requestBody?.content['application/json']?.schema
      return validate(schema as object, sent) === undefined
    },
  }
}
