/** The vendors' own libraries are optional peers, loaded when the first delivery needs them. */
import { IbidError } from '../../core/errors.js'

export function library<T>(name: string, load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined
  return () => {
    loaded ??= load().catch((cause: unknown) => {
      loaded = undefined
      throw new IbidError(`the package ${name} cannot be loaded; the delivery was not handled`, {
        code: 'LIBRARY_MISSING',
        retriable: true,
        action: `npm install ${name}`,
        cause,
      })
    })
    return loaded
  }
}
