/** The types of dynamodb.mjs, for the tests that start the emulator. */

export interface DynamodbEmulator {
  readonly name: string
  readonly endpoint: string
  readonly pid: number
  readonly config: {
    readonly endpoint: string
    readonly region: string
    readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
  }
  stop(signal?: NodeJS.Signals): Promise<void>
}

export function startDynamodb(): Promise<DynamodbEmulator>
