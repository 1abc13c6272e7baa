import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { ListenerPlan } from '@sluice/config'
import { PortNames } from './port-names.js'

/** Listener address to the real port behind it. */
export type Ports = Readonly<Record<string, number>>

/** The ports for a plan, or why it cannot have them. */
export type Claim =
  | { readonly ok: true; readonly ports: Ports }
  | { readonly ok: false; readonly reasons: readonly string[] }

/**
 * Which addresses the gateway listens on. Workers bind with SO_REUSEPORT, and the kernel would let them share a port
 * with another gateway of the same user without a word; therefore each new address is first bound here, exclusively, and
 * its name is kept as long as it serves.
 */
export class ListenerPorts {
  readonly #formerPort: (address: string) => number | null
  readonly #names = new PortNames()
  #serving: Ports = {}

  /** @param formerPort the port of an address that workers of a killed supervisor still listen on. */
  constructor(formerPort: (address: string) => number | null = () => null) {
    this.#formerPort = formerPort
  }

  /** Address to real port of what serves now. */
  get serving(): Ports {
    return this.#serving
  }

  /**
   * Checks the addresses that do not serve yet, and finds a free port for those that name port 0. They are this
   * gateway's until the next `commit` or `release`.
   */
  async claim(listeners: readonly ListenerPlan[]): Promise<Claim> {
    const ports: Record<string, number> = {}
    const reasons: string[] = []
    for (const [i, listener] of listeners.entries()) {
      const known = this.#serving[listener.address]
      if (known === undefined) {
        const found = await this.#find(listener)
        if (typeof found === 'number') ports[listener.address] = found
        else reasons.push(found(`listeners[${i}].address`))
      } else ports[listener.address] = known
    }
    return reasons.length === 0 ? { ok: true, ports } : { ok: false, reasons }
  }

  /** The plan with these ports serves now. */
  commit(ports: Ports): void {
    this.#serving = ports
    this.release()
  }

  /** Gives up what was claimed and does not serve. */
  release(): void {
    this.#names.keepOnly(this.#serving)
  }

  /** Gives up everything: the gateway is about to end. */
  close(): void {
    this.#names.keepOnly({})
  }

  async #find({ address, host, port }: ListenerPlan): Promise<number | Complaint> {
    // The workers of a killed supervisor, which may live on without its parent, are asked to leave once ours serve beside them.
    const former = this.#formerPort(address)
    if (former !== null) {
      await this.#names.take(address, former)
      return former
    }
    if (port === 0) return this.#any(address, host)
    // A port that this gateway serves on another address of the machine would only be in its own way.
    const found = Object.values(this.#serving).includes(port) ? port : await freePort(host, port)
    if (typeof found !== 'number' || (await this.#names.take(address, port))) return found
    return complaint(host, port, REMEDIES['EADDRINUSE']!)
  }

  /** Finds a free port; the system's choice where there is none among those of ours. */
  async #any(address: string, host: string): Promise<number | Complaint> {
    for (let i = 0; i < ATTEMPTS; i++) {
      const found = await freePort(host, CHOSEN_PORTS.first + randomInt(CHOSEN_PORTS.count))
      if (typeof found === 'number' && (await this.#names.take(address, found))) return found
    }
    return freePort(host, 0)
  }
}

/** What is wrong with an address, with the position in the document that names it. */
type Complaint = (place: string) => string

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; stop the other process or change',
  EADDRNOTAVAIL: 'is not an address of this machine; change',
  EACCES: 'needs a privilege this process does not have; choose a port from 1024 on in',
  ENOTFOUND: 'cannot be resolved; change',
}

/**
 * A free port of the system's choice is one that an outgoing connection may take a moment later, before a worker binds it,
 * or while a worker is started again. Those below 32,768 are not given to connections (ip_local_port_range, ip(7)).
 */
const CHOSEN_PORTS = { first: 10_000, count: 10_000 }
const ATTEMPTS = 20

/** Binds an address for a moment. Resolves with its port, or with a complaint. */
function freePort(host: string, port: number): Promise<number | Complaint> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const remedy = REMEDIES[error.code ?? ''] ?? `cannot be used (${error.message}); change`
      resolve(complaint(host, port, remedy))
    })
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const real = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(real))
    })
  })
}

function complaint(host: string, port: number, remedy: string): Complaint {
  return (place) => `address ${addressText(host, port)} ${remedy} ${place}`
}

/** `host:port`, with an IPv6 host in brackets. */
export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
