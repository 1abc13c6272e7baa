import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import type { ListenerPlan } from '@sluice/config'
import { PortNames } from './port-names.js'

/** Actual port by listener address. */
export type Ports = Readonly<Record<string, number>>

/** The ports for a plan, or the reasons why they are unavailable. */
export type Claim =
  | { readonly ok: true; readonly ports: Ports }
  | { readonly ok: false; readonly reasons: readonly string[] }

/**
 * The addresses that the gateway listens on. Workers bind with SO_REUSEPORT, so the kernel would silently let
 * them share a port with another gateway of the same user. Each new address is therefore first bound here,
 * exclusively, and its name is reserved while it is in use.
 */
export class ListenerPorts {
  readonly #formerPort: (address: string) => number | null
  readonly #names = new PortNames()
  #serving: Ports = {}

  /**
   * @param formerPort returns the port of an address on which workers of a killed supervisor still listen, or
   * null.
   */
  constructor(formerPort: (address: string) => number | null = () => null) {
    this.#formerPort = formerPort
  }

  /** Actual port by address of the active plan. */
  get serving(): Ports {
    return this.#serving
  }

  /**
   * Checks the addresses that are not active yet, and picks a free port where the document says port 0. The
   * claim lasts until the next `commit` or `release`.
   */
  async claim(listeners: readonly ListenerPlan[]): Promise<Claim> {
    const ports: Record<string, number> = {}
    const reasons: string[] = []
    for (const [i, listener] of listeners.entries()) {
      const known = this.#serving[listener.address]
      if (known === undefined) {
        const found = await this.#findPort(listener)
        if (typeof found === 'number') ports[listener.address] = found
        else reasons.push(found(`listeners[${i}].address`))
      } else ports[listener.address] = known
    }
    return reasons.length === 0 ? { ok: true, ports } : { ok: false, reasons }
  }

  /** Marks these ports as active and releases all others. */
  commit(ports: Ports): void {
    this.#serving = ports
    this.release()
  }

  /** Releases ports that were claimed but are not active. */
  release(): void {
    this.#names.keepOnly(this.#serving)
  }

  /** Releases all ports, because the gateway is about to stop. */
  close(): void {
    this.#names.keepOnly({})
  }

  async #findPort({ address, host, port }: ListenerPlan): Promise<number | AddressProblem> {
    // Workers of a killed supervisor still listen here. They are asked to exit once the new workers listen
    // beside them.
    const former = this.#formerPort(address)
    if (former !== null) {
      await this.#names.take(address, former)
      return former
    }
    if (port === 0) return this.#pickFreePort(address, host)
    // The port may be active on another address of this gateway, and then a test bind would fail.
    const found = Object.values(this.#serving).includes(port) ? port : await freePort(host, port)
    if (typeof found !== 'number' || (await this.#names.take(address, port))) return found
    return addressProblem(host, port, REMEDIES['EADDRINUSE']!)
  }

  /** Picks a free port from our range, or lets the system choose if none is found. */
  async #pickFreePort(address: string, host: string): Promise<number | AddressProblem> {
    for (let i = 0; i < ATTEMPTS; i++) {
      const found = await freePort(host, CHOSEN_PORTS.first + randomInt(CHOSEN_PORTS.count))
      if (typeof found === 'number' && (await this.#names.take(address, found))) return found
    }
    return freePort(host, 0)
  }
}

/** Describes a problem with an address. `place` is its position in the document. */
type AddressProblem = (place: string) => string

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; stop the other process or change',
  EADDRNOTAVAIL: 'is not a local address of this machine; change',
  EACCES: 'needs a privilege that this process does not have; choose a port of 1024 or higher in',
  ENOTFOUND: 'cannot be resolved; change',
}

/**
 * Range for port 0. A port chosen by the system could be taken by an outgoing connection before a worker
 * binds it or while a worker restarts. Ports below 32,768 are not used for connections (ip_local_port_range,
 * ip(7)).
 */
const CHOSEN_PORTS = { first: 10_000, count: 10_000 }
const ATTEMPTS = 20

/** Binds an address briefly. Resolves with its port, or with a addressProblem. */
function freePort(host: string, port: number): Promise<number | AddressProblem> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const remedy = REMEDIES[error.code ?? ''] ?? `cannot be used (${error.message}); change`
      resolve(addressProblem(host, port, remedy))
    })
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address()
      const real = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => resolve(real))
    })
  })
}

function addressProblem(host: string, port: number, remedy: string): AddressProblem {
  return (place) => `address ${addressText(host, port)} ${remedy} ${place}`
}

/** Formats an address as `host:port`, with brackets around an IPv6 host. */
export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
