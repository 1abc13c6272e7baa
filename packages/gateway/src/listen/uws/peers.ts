import type { HttpResponse } from 'uWebSockets.js'
import { clientNetwork } from '../client-network.js'
import { addressText } from '../peer-address.js'
import { connectionsByClient } from './socket-table.js'

/**
 * Minimum interval between reads of the kernel's table, in milliseconds, and as a multiple of the last read's duration.
 */
const LOOK_EVERY_MS = 1000
const REST = 50

/**
 * Peer addresses of a listener's connections. uWS asks the kernel for an address at every request, and creates a buffer
 * for it: 6 % of the CPU time of a GET, 4 % of a POST of 1 KB. While all open connections have the same address, as
 * behind a single proxy, that address is used without asking. Otherwise each request asks, until all connections have
 * closed.
 */
export class Peers {
  #open = 0
  /** Address of all open connections, or empty if they differ or the kernel did not report one. */
  #soleAddress = ''
  /**
   * Connections by client, never fewer than are open. uWS does not report whose connection has closed. With several
   * clients the counts only grow, until one may be too high and the kernel is asked.
   */
  #counts = new Map<string, number>()
  /** Number of connections that have closed since, of unknown clients. */
  #closed = 0
  /** Monotonic time in milliseconds. */
  #nextLookAt = 0

  get open(): number {
    return this.#open
  }

  /** Counts a new connection and returns its address. Call it before anything is read. */
  add(res: HttpResponse): string {
    this.#open++
    const address = addressText(res.getRemoteAddress())
    if (this.#open === 1) this.#soleAddress = address
    else if (address !== this.#soleAddress) this.#soleAddress = ''
    const client = clientNetwork(address)
    this.#counts.set(client, (this.#counts.get(client) ?? 0) + 1)
    return address
  }

  /** Counts a closed connection. @param address empty if unknown. */
  remove(address: string): void {
    this.#open--
    const closed = address === '' ? this.#soleAddress : address
    if (this.#open === 0) {
      this.#counts.clear()
      this.#closed = 0
    } else if (closed === '') this.#closed++
    else this.#decrement(clientNetwork(closed))
  }

  /**
   * Returns true if more than `most` connections are open from the client of this address.
   * @param port port of the listener.
   */
  hasMoreThan(most: number, address: string, port: number): boolean {
    const client = clientNetwork(address)
    if (this.#open <= most || this.#countOf(client) <= most) return false
    // All closed connections may have been this client's.
    if (this.#countOf(client) - this.#closed <= most) this.#refreshCounts(port)
    return this.#countOf(client) - this.#closed > most
  }

  /** Returns the address of a request's connection. */
  of(res: HttpResponse): string {
    return this.#soleAddress === '' ? addressText(res.getRemoteAddress()) : this.#soleAddress
  }

  #countOf(client: string): number {
    return this.#counts.get(client) ?? 0
  }

  #decrement(client: string): void {
    const left = this.#countOf(client) - 1
    if (left > 0) this.#counts.set(client, left)
    else this.#counts.delete(client)
  }

  /**
   * Refreshes the counts from the kernel's table. It has the connections of all workers, assumed evenly distributed.
   */
  #refreshCounts(port: number): void {
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
