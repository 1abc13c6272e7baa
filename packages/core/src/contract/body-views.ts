/** Derived form of a body, such as a parsed document. It is created once and shared by all readers. */
export interface BodyView {
  /** Frees memory that the garbage collector does not manage. */
  close(): void
}

/** Creates a view of a body. The function's identity is the cache key for this kind of view. */
export type ViewMaker<V extends BodyView> = (body: Uint8Array) => V

interface Entry {
  readonly make: unknown
  readonly body: Uint8Array
  readonly view: BodyView
}

/**
 * Cache of the views of an exchange's bodies. Replacing a body does not close the views of the old one,
 * because a policy may still be reading them. They live until the exchange ends.
 */
export class BodyViews {
  readonly #entries: Entry[] = []

  /** Returns the view of a body, creating it on first use. @throws Errors of `make`. */
  of<V extends BodyView>(make: ViewMaker<V>, body: Uint8Array): V {
    for (const entry of this.#entries) {
      if (entry.make === make && entry.body === body) return entry.view as V
    }
    const view = make(body)
    this.#entries.push({ make, body, view })
    return view
  }

  close(): void {
    for (const { view } of this.#entries.splice(0)) view.close()
  }
}
