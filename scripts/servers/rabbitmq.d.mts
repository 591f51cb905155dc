export interface RabbitmqServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export interface RabbitmqStartOptions {
  readonly settings?: Readonly<Record<string, string | number>>
  readonly channelTickMs?: number
}

export function startRabbitmq(options?: RabbitmqStartOptions): Promise<RabbitmqServer>
