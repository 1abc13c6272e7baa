import { writeSync } from 'node:fs'

/**
 * A process of its own that sets the receive buffer (SO_RCVBUF) of the socket that it has inherited as descriptor 3, and
 * ends. Node.js has this call for UDP sockets only, and where the descriptor is not watched already; the kernel does not
 * mind of which kind the socket is.
 */
interface UdpHandle {
  /** 0, or a negative error number. */
  open(fd: number): number
  /** Undefined when it failed. */
  bufferSize(bytes: number, isReceive: boolean, failure: object): number | undefined
}

const binding = Reflect.get(process, 'binding') as (name: 'udp_wrap') => { readonly UDP: new () => UdpHandle }
const { UDP } = binding('udp_wrap')
const handle = new UDP()
const opened = handle.open(3)
const failure: { readonly message?: string } = {}
const isSet = opened === 0 && handle.bufferSize(Number(process.argv[2]), true, failure) !== undefined
if (!isSet) writeSync(2, failure.message ?? `error ${opened}`)
process.exit(isSet ? 0 : 1)
