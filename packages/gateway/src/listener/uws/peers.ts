import type { HttpResponse } from 'uWebSockets.js'
import { addressText } from './peer-address.js'

/**
 * The other ends of a listener's connections. uWS asks the kernel for an address at every request and makes a buffer for
 * each answer, which is 3 % of a GET. As long as all connections that are open have come from one address, as behind a
 * single proxy, that address is every request's, and nobody needs to ask; from the second address on each request asks,
 * until all connections have closed.
 */
export class Peers {
  #open = 0
  /** Of all open connections; empty where they differ, or where the kernel did not tell one. */
  #only = ''

  get open(): number {
    return this.#open
  }

  /** A connection has opened. To be called before anything is read from it. */
  add(res: HttpResponse): void {
    this.#open++
    const address = addressText(res.getRemoteAddress())
    if (this.#open === 1) this.#only = address
    else if (address !== this.#only) this.#only = ''
  }

  /** One has closed; which one, nobody can tell by then. */
  remove(): void {
    this.#open--
  }

  /** The address behind the connection of a request. */
  of(res: HttpResponse): string {
    return this.#only === '' ? addressText(res.getRemoteAddress()) : this.#only
  }
}
