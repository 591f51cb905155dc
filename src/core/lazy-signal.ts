/** An AbortController whose signal is made when somebody asks for it: most never do, and one costs more than a call. */
export class LazySignal {
  #controller: AbortController | undefined
  #ended: { readonly reason: unknown } | undefined

  /** Once it was read, it speaks up when this aborts; read later, it has aborted already. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#ended) this.#controller.abort(this.#ended.reason)
    }
    return this.#controller.signal
  }

  /** Undefined while it has not aborted. */
  get reason(): unknown {
    return this.#ended?.reason
  }

  /** The first reason stays. */
  abort(reason: unknown): void {
    this.#ended ??= { reason }
    this.#controller?.abort(reason)
  }

  throwIfAborted(): void {
    if (this.#ended) throw this.#ended.reason
  }
}
