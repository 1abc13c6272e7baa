import { writeSync } from 'node:fs'

/**
 * A program that sets the receive buffer (SO_RCVBUF) of the sockets it has inherited, from descriptor 3 on, and exits.
 * Node.js has this call only for UDP sockets, and only if the descriptor is not watched already. The kernel accepts any
 * kind of socket.
 *
 * This is the only place that uses the undocumented `process.binding`. On a Node.js without it, the program fails and
 * the listener serves with the system's buffers (docs/internals/adr/0016).
 */
interface UdpHandle {
  /** Opens a descriptor. Returns 0 or a negative error number. */
  open(fd: number): number
  bufferSize(bytes: number, isReceive: boolean, failure: object): number | undefined
}

type UdpBinding = (name: 'udp_wrap') => { readonly UDP: new () => UdpHandle }

const binding = Reflect.get(process, 'binding') as UdpBinding | undefined
const UDP = binding?.('udp_wrap').UDP ?? fail('this Node.js has no process.binding for UDP sockets')
const [bytes = 0, sockets = 0] = process.argv.slice(2).map(Number)
for (let fd = 3; fd < 3 + sockets; fd++) setReceiveBuffer(fd)
// An open handle would keep the process alive.
process.exit(0)

function setReceiveBuffer(fd: number): void {
  const handle = new UDP()
  const opened = handle.open(fd)
  const failure: { readonly message?: string } = {}
  if (opened === 0 && handle.bufferSize(bytes, true, failure) !== undefined) return
  fail(failure.message ?? `error ${opened}`)
}

function fail(reason: string): never {
  writeSync(2, reason)
  process.exit(1)
}
