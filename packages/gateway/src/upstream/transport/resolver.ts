import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'

/** System lookup of all addresses of a name. */
export type SystemLookup = (
  name: string,
  options: LookupOptions & { readonly all: true },
  done: Answer,
) => void

type Answer = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void

/** Time in milliseconds after which cached addresses are used instead of waiting for DNS. */
const PATIENCE_MS = 250

/**
 * Resolves the addresses of targets, with one lookup at a time per name. Each lookup occupies one of the four threads
 * that Node.js has for them. With silent DNS servers, the connections to one name would otherwise block all names.
 * Cached addresses are used while DNS is silent or failing, but not after it has reported that the name does not exist.
 */
export class Resolver {
  readonly #ask: SystemLookup
  /** Cached addresses. Only names from configurations are looked up, which bounds the size. */
  readonly #known = new Map<string, LookupAddress[]>()
  readonly #asked = new Map<string, Answer[]>()

  constructor(ask: SystemLookup = dns.lookup) {
    this.#ask = ask
  }

  /** Lookup function for `net.connect`, which tries all addresses in turn. */
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

  /** Updates the cache after a lookup. Returns the known addresses, or null. */
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
