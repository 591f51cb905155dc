export interface NatsServer {
  readonly url: string
  readonly port: number
  /** Changes with every restart. */
  readonly pid: number
  restart(): Promise<void>
  stop(): Promise<void>
}

export function startNats(): Promise<NatsServer>
