import type { HttpResponse } from 'uWebSockets.js'
import { clientNetwork } from '../client-network.js'
import { addressText } from '../peer-address.js'
import { connectionsByClient } from './socket-table.js'

/** Between two looks at the kernel's table: at least this, and so many times as long as the last one took. */
const LOOK_EVERY_MS = 1000
const REST = 50

/**
 * The other ends of a listener's connections. uWS asks the kernel for an address at every request and makes a buffer for
 * each answer: 6 % of the CPU time of a GET, 4 % of a POST of 1 KB. As long as all connections that are open have come
 * from one address, as behind a single proxy, that address is every request's, and nobody needs to ask; from the second
 * address on each request asks, until all connections have closed.
 */
export class Peers {
  #open = 0
  /** Of all open connections; empty where they differ, or where the kernel did not name one. */
  #only = ''
  /**
   * By client: no fewer than are open. uWS does not say whose connection has closed, so where there are several clients
   * the numbers only grow, until one of them may be too high and the kernel is asked.
   */
  #counts = new Map<string, number>()
  /** Connections that have closed since, of nobody knows whom. */
  #closed = 0
  /** Monotonic clock, ms. */
  #nextLookAt = 0

  get open(): number {
    return this.#open
  }

  /** A connection has opened; answers its address. To be called before anything is read from it. */
  add(res: HttpResponse): string {
    this.#open++
    const address = addressText(res.getRemoteAddress())
    if (this.#open === 1) this.#only = address
    else if (address !== this.#only) this.#only = ''
    const client = clientNetwork(address)
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)
    return address
  }

  /** One has closed. @param address empty where it is not known any more which one. */
  remove(address: string): void {
    this.#open--
    const closed = address === '' ? this.#only : address
    if (this.#open === 0) {
      this.#counts.clear()
      this.#closed = 0
    } else if (closed === '') this.#closed++
    else this.#decrement(clientNetwork(closed))
  }

  /** Whether more connections than that are open from where this address is. @param port of the listener. */
  hasMoreThan(most: number, address: string, port: number): boolean {
    const client = clientNetwork(address)
    if (this.#open <= most || this.#countOf(client) <= most) return false
    // All that have closed may have been its own.
    if (this.#countOf(client) - this.#closed <= most) this.#look(port)
    return this.#countOf(client) - this.#closed > most
  }

  /** The address behind the connection of a request. */
  of(res: HttpResponse): string {
    return this.#only === '' ? addressText(res.getRemoteAddress()) : this.#only
  }

  #countOf(client: string): number {
    return this.#counts.get(client) ?? 0
  }

  #decrement(client: string): void {
    const left = this.#countOf(client) - 1
    if (left > 0) this.#counts.set(client, left)
    else this.#counts.delete(client)
  }

  /** The kernel knows the connections of all workers at this port, which it has spread evenly. */
  #look(port: number): void {
    const startedMono = performance.now()
    if (startedMono < this.#nextLookAt) return
    const counts = connectionsByClient(port, clientNetwork)
    const nowMono = performance.now()
    this.#nextLookAt = nowMono + Math.max(LOOK_EVERY_MS, (nowMono - startedMono) * REST)
    let all = 0
    for (const count of counts.values()) all += count
    const part = all === 0 ? 0 : Math.min(1, this.#open / all)
    this.#counts = new Map()
    this.#closed = 0
    for (const [client, count] of counts) this.#counts.set(client, Math.ceil(count * part))
  }
}
