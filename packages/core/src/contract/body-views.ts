/** Something made of a body once, for all that read it: a parsed document. */
export interface BodyView {
  /** Gives up what the garbage collector does not know of. */
  close(): void
}

/** Makes a view of a body; its identity names the kind of view. */
export type ViewMaker<V extends BodyView> = (body: Uint8Array) => V

interface Entry {
  readonly make: unknown
  readonly body: Uint8Array
  readonly view: BodyView
}

/**
 * The views of an exchange's bodies. A body that was replaced has no views yet; those of the body before live on until
 * the exchange ends, because who holds one may still read it.
 */
export class BodyViews {
  readonly #entries: Entry[] = []

  /** The view of this kind of this body, made at its first use. @throws what `make` throws */
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
