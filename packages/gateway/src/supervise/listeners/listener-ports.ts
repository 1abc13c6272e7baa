import type { ListenerPlan } from '@sluice/config'
import { reasonOf } from '@sluice/core'
import { pickFreePort, probePort } from '../../lib/free-port.js'
import { byHolder } from './port-holder.js'
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

  /** Reserves the names of the active ports, once the supervisor that this one replaces has released them. */
  async reserve(): Promise<void> {
    for (const [address, port] of Object.entries(this.#serving)) await this.#names.take(address, port)
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
    const take = (chosen: number) => this.#names.take(address, chosen)
    if (port === 0) return pickFreePort(host, take).catch(problemOf(host, port))
    // Only a Sluice gateway takes the name. A test bind before would disturb its workers.
    if (!(await take(port))) return inUse(host, port, (await byHolder(port)) || ' by another Sluice gateway')
    // The port may be active on another address of this gateway, and then a test bind would fail.
    const isOurs = Object.values(this.#serving).includes(port)
    return isOurs ? port : probePort(host, port).catch(problemOf(host, port))
  }
}

/** Describes a problem with an address. `place` is its position in the document. */
type AddressProblem = (place: string) => string

const REMEDIES: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'is not a local address of this machine; change',
  EACCES: 'needs a privilege that this process does not have; choose a port of 1024 or higher in',
  ENOTFOUND: 'cannot be resolved; change',
}

/** Returns a function that describes why an address could not be bound. */
function problemOf(
  host: string,
  port: number,
): (error: NodeJS.ErrnoException) => AddressProblem | Promise<AddressProblem> {
  return async (error) => {
    const { code = '' } = error
    if (code === 'EADDRINUSE') return inUse(host, port, await byHolder(port))
    return addressProblem(host, port, REMEDIES[code] ?? `cannot be used (${reasonOf(error)}); change`)
  }
}

function inUse(host: string, port: number, holder: string): AddressProblem {
  return addressProblem(host, port, `is in use${holder}; stop the other process or change`)
}

function addressProblem(host: string, port: number, remedy: string): AddressProblem {
  return (place) => `address ${addressText(host, port)} ${remedy} ${place}`
}

/** Formats an address as `host:port`, with brackets around an IPv6 host. */
export function addressText(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
