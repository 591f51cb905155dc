/**
 * What is looked at from outside: something that takes a key and a payload and answers. What stands behind it,
 * HTTP, an MCP tool or a function, is the business of one file each; the properties know only this.
 */
export interface Order {
  /** Undefined: the call is made without one. */
  readonly key: string | undefined
  readonly payload: unknown
  /** `other`: with the credentials of another caller. `spoofing`: it says of itself that it is a replay. */
  readonly as?: 'other' | 'spoofing' | undefined
}

export interface Sending {
  /** The caller goes away when this aborts. */
  readonly cut?: AbortSignal | undefined
  /** The call is on its way. */
  readonly onSent?: (() => void) | undefined
}

/**
 * `done`: it was accepted. `wait`: come back later with the same key. `refused`: no, and trying again changes
 * nothing. `failed`: something broke. `lost`: there was no answer.
 */
export type AnswerKind = 'done' | 'wait' | 'refused' | 'failed' | 'lost'

export interface Answer {
  readonly kind: AnswerKind
  /** The status, in a word or two: `201`, `isError KEY_REUSED`, `throws TypeError`. */
  readonly said: string
  readonly contentType?: string | undefined
  /** Byte for byte what came, or a text that differs where the value differs. */
  readonly body: string
  /** What it says besides: headers or metadata, in which a replay may be marked. */
  readonly facts: Readonly<Record<string, string>>
  readonly retryAfterMs?: number | undefined
}

export interface Target {
  /** As it is shown: `POST http://127.0.0.1:3000/refunds`. */
  readonly name: string
  /** What the payload is called where the target comes from: `body`, `arguments`, `payload`. */
  readonly payloadName: string
  /** Keys that can be sent there at all. */
  readonly canCarry: (key: string) => boolean
  call(order: Order, sending?: Sending): Promise<Answer>
  /** Kills it and starts it again; resolves when it can be called. */
  readonly restart?: (() => Promise<void>) | undefined
  /** The kinds of callers it can play. */
  readonly roles: readonly ('other' | 'spoofing')[]
  close(): Promise<void>
}

export function lost(said: string): Answer {
  return { kind: 'lost', said, body: '', facts: {} }
}
