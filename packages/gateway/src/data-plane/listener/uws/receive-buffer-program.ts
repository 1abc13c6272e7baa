import { writeSync } from 'node:fs'

/**
 * A process of its own that sets the receive buffer (SO_RCVBUF) of the sockets that it has inherited, from descriptor 3
 * on, and ends. Node.js has this call for UDP sockets only, and where the descriptor is not watched already; the kernel does not
 * mind of which kind the socket is.
 *
 * It is the only place that uses `process.binding`, which Node.js does not document. A Node.js without it ends the program
 * with an error: the listener then serves with the system's buffers (docs/internals/adr/0016).
 */
interface UdpHandle {
  /** 0, or a negative error number. */
  open(fd: number): number
  /** Undefined when it failed. */
  bufferSize(bytes: number, isReceive: boolean, failure: object): number | undefined
}

type UdpBinding = (name: 'udp_wrap') => { readonly UDP: new () => UdpHandle }

const binding = Reflect.get(process, 'binding') as UdpBinding | undefined
const UDP = binding?.('udp_wrap').UDP ?? fail('this Node.js has no process.binding for UDP sockets')
const [bytes = 0, sockets = 0] = process.argv.slice(2).map(Number)
for (let fd = 3; fd < 3 + sockets; fd++) setReceiveBuffer(fd)
// A handle that is open keeps the process.
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
