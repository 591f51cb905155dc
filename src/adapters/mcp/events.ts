/** Server-sent events, read one by one with the text they came as, so that they can be passed on unchanged. */

export interface ServerEvent {
  /** As it came, with the empty line that ends it. */
  readonly raw: string
  readonly data: string
  readonly id: string | undefined
  readonly retryMs: number | undefined
}

const END = /\r\n\r\n|\n\n|\r\r/
/** To the end of the line, whatever is in it: U+2028 and U+2029 end a line for a dot, and stand in JSON as they are. */
const FIELD = /^(\w+):? ?(.*)$/s

export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = END.exec(text); end; end = END.exec(text)) {
      const at = end.index + end[0].length
      yield read(text.slice(0, at))
      text = text.slice(at)
    }
  }
}

export function eventOf(message: unknown): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`
}

function read(raw: string): ServerEvent {
  const data: string[] = []
  let id: string | undefined
  let retryMs: number | undefined
  for (const line of raw.split(/\r\n|\n|\r/)) {
    const [, field, value = ''] = FIELD.exec(line) ?? []
    if (field === 'data') data.push(value)
    else if (field === 'id') id = value
    else if (field === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
  }
  return { raw, data: data.join('\n'), id, retryMs }
}
