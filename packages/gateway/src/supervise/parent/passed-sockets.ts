import type { SendHandle } from 'node:child_process'
import type { Server } from 'node:net'

const listening = new Map<string, Server>()
const inherited = new Map<string, SendHandle>()
let waiting: (() => Promise<void>)[] = []

/** Offers the socket of a listening server to the next version, until the server closes. */
export function offerSocket(name: string, server: Server): void {
  listening.set(name, server)
  server.once('close', () => {
    if (listening.get(name) === server) listening.delete(name)
  })
}

/** Returns the offered sockets by name. */
export function offeredSockets(): (readonly [name: string, socket: SendHandle])[] {
  return [...listening].flatMap(([name, server]) => {
    // The raw handle: a receiver of a `Server` would accept connections at once.
    const { _handle } = server as unknown as { readonly _handle: SendHandle | null }
    return _handle === null ? [] : [[name, _handle] as const]
  })
}

/** Keeps a socket of the supervisor that this one replaces, for the server of this name. */
export function inheritSocket(name: string, socket: unknown): void {
  if (socket !== undefined) inherited.set(name, socket as SendHandle)
}

/**
 * Has a server use the inherited socket of its name. Returns false if there is none.
 * @param listen accepts connections on it; called when this gateway is ready.
 */
export function useInherited(name: string, listen: (socket: SendHandle) => Promise<void>): boolean {
  const socket = inherited.get(name)
  if (socket === undefined) return false
  inherited.delete(name)
  waiting.push(() => listen(socket))
  return true
}

/** Has the servers accept connections on the inherited sockets. Closes those that no server uses. */
export async function acceptInherited(): Promise<void> {
  for (const socket of inherited.values()) (socket as unknown as { close(): void }).close()
  inherited.clear()
  const servers = waiting
  waiting = []
  await Promise.all(servers.map((listen) => listen()))
}
