import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** Asks the system for all addresses of a name. */
export type AskSystem = (name: string, options: LookupOptions & { readonly all: true }, done: Answer) => void

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** When the name servers take longer than this, addresses known from before serve. */
const PATIENCE_MS = 250

/**
 * Finds the addresses of targets. A name is asked for once at a time: a lookup holds one of the four threads that Node.js
 * has for them, and the connections to one name whose servers are silent would hold them all, against every other name.
 * Addresses known from before serve while the name servers are silent or in trouble, but not once they say that there is
 * no such name.
 */
export class Resolver {
  readonly #ask: AskSystem
  /** Only names of targets come here, so there are as many as configurations have named. */
  readonly #known = new Map<string, LookupAddress[]>()
  readonly #asked = new Map<string, Answer[]>()

  constructor(ask: AskSystem = dns.lookup) {
    this.#ask = ask
  }

  /** For `net.connect`, which wants all addresses and tries them in turn. */
  readonly lookup: LookupFunction = (name, options, done) => {
    let timer: NodeJS.Timeout | null = null
    let isAnswered = false
    const answer: Answer = (error, addresses) => {
      if (timer !== null) clearTimeout(timer)
      if (isAnswered) return
      isAnswered = true
      if (error !== null) done(error, [])
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]!.address, addresses[0]!.family)
    }
    const known = this.#known.get(name)
    if (known !== undefined) timer = setTimeout(answer, PATIENCE_MS, null, known)
    this.#queue(name, options, answer)
  }

  #queue(name: string, options: LookupOptions, answer: Answer): void {
    const asked = this.#asked.get(name)
    if (asked !== undefined) {
      asked.push(answer)
      return
    }
    const answers = [answer]
    this.#asked.set(name, answers)
    this.#ask(name, { ...options, all: true }, (error, addresses) => {
      this.#asked.delete(name)
      const known = this.#learn(name, error, addresses)
      for (const each of answers) each(known === null ? error : null, known ?? [])
    })
  }

  /** What is known of a name after an answer to the question for it; null: nothing. */
  #learn(
    name: string,
    error: NodeJS.ErrnoException | null,
    addresses: LookupAddress[],
  ): LookupAddress[] | null {
    if (error === null) this.#known.set(name, addresses)
    else if (error.code === 'ENOTFOUND') this.#known.delete(name)
    return this.#known.get(name) ?? null
  }
}
